// SPDX-License-Identifier: Apache-2.0
/*
 * Finding a repository: from a directory up to its `.git`, and from there to its parts.
 *
 * Source: gitrepository-layout(5), git-worktree(1).
 */
#ifndef AL_GITOPS_LOCATE_H
#define AL_GITOPS_LOCATE_H

#include <stdbool.h>

#include "gitops/location.h"
#include "util/error.h"

struct al_roots;

/**
 * Find the repository that holds `at->dir`, which is open, and fill in the rest.  Every part of it
 * has to lie in the roots.
 *
 * @param given  The agent's word for the directory, for messages.
 * @return as al_repo_open().
 */
int al_location_find(struct al_location *at, const struct al_roots *roots, const char *given,
                     struct al_error *err);

/** The same for a repository at `at->dir` itself, bare or not. */
int al_location_find_at(struct al_location *at, const struct al_roots *roots, const char *given,
                        struct al_error *err);

/** The path in a one-line file such as `.git` ("gitdir: …") or commondir, made absolute;
 * NULL when it holds no such line.  Caller frees. */
char *al_git_read_pointer(int dir_fd, const char *name, const char *prefix, const char *base);

/** What to do about a bare repository. */
extern const char al_git_bare_remedy[];

/** Whether a directory is a git directory by itself, as a bare repository is. */
bool al_git_is_bare_dir(const char *dir);

#endif
