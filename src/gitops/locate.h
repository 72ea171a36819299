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
 * Find the repository that holds `at->dir`, which is open, and set the other members.  Every part
 * of the repository has to lie in the roots.
 *
 * @param given  The agent's word for the directory, for messages.
 * @return as al_repo_open().
 */
int al_location_find(struct al_location *at, const struct al_roots *roots, const char *given,
                     struct al_error *err);

/** Set the members for the repository at `at->dir` itself, bare or not.  Parents are not searched.
 * Otherwise like al_location_find(). */
int al_location_find_at(struct al_location *at, const struct al_roots *roots, const char *given,
                        struct al_error *err);

/** The path in a one-line file such as `.git` ("gitdir: ...") or commondir, made absolute; NULL
 * when the file holds no such line.  Caller frees. */
char *al_git_read_pointer(int dir_fd, const char *name, const char *prefix, const char *base);

/** The remedy for a bare repository. */
extern const char al_git_bare_remedy[];

/** The one for this repository; NULL: it was not opened. */
const char *al_git_bare_remedy_of(const struct al_location *at);

/** Test whether a directory is itself a git directory, as a bare repository is. */
bool al_git_is_bare_dir(const char *dir);

#endif
