// SPDX-License-Identifier: Apache-2.0
/*
 * Finding a repository: from a directory up to its `.git`, and from there to its parts.
 *
 * Source: gitrepository-layout(5), git-worktree(1).
 */
#ifndef AL_GIT_LOCATE_H
#define AL_GIT_LOCATE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/location.h"

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

/** Gets a linked working tree: its name below worktrees/, its git directory, open, and where that
 * says that the working tree is, which is not verified; NULL: it does not say.  False ends it. */
typedef bool al_linked_fn(void *payload, const char *name, int git_dir_fd, const char *top);

/** Look at all linked working trees of a repository, in no order.
 *
 * @return 0, or AL_ERR_EXECUTION when the common directory is gone. */
int al_git_each_linked(const struct al_location *at, al_linked_fn *take, void *payload,
                       struct al_error *err);

/** The remedy for a bare repository. */
extern const char al_git_bare_remedy[];

/** The one for this repository; NULL: it was not opened. */
const char *al_git_bare_remedy_of(const struct al_location *at);

/** Append the names of the repositories directly below a directory, bare ones too, in byte order.
 */
void al_git_list_below(int dir_fd, struct al_strv *out);

/** Test whether a directory is itself a git directory, as a bare repository is. */
bool al_git_is_bare_dir(const char *dir);

/** Which git directories may be settled.  Borrowed. */
struct al_git_dirs_options {
    const struct al_strv *listed;    /**< the user's git_dirs, absolute; NULL: none */
    const struct al_strv *forbidden; /**< as for al_roots_add() */
    const char *home;                /**< as for al_roots_add() */
};

/**
 * Settle the git directory of each root that is the top of a working tree whose `.git` is a file.
 * A root whose `.git` names nothing, or a git directory that does not belong to it, gets none:
 * calls there then say what lies outside.  A root that is a bare repository is marked as one.
 *
 * @return 0; as al_roots_add() when a git directory cannot be used.
 */
int al_git_dirs_settle(struct al_roots *roots, const struct al_git_dirs_options *options,
                       struct al_error *err);

/**
 * The git directory of a working tree of the repository, before that is opened: its `.git` file,
 * which is a regular one of the user's, and the administrative directory name each other, or `.git`
 * is the common directory.  NULL: it is none.  Nothing else is read of a directory that a forged
 * `gitdir` file names.  Caller frees.
 */
char *al_git_dir_of_worktree(const char *top, const char *common_dir);

/**
 * Find the git directory of a nested repository.  Its configuration is not read.
 *
 * @param top  Its directory, absolute.
 * @return 0; AL_ERR_NOT_FOUND when there is no `.git`; AL_ERR_SANDBOX when it or the common
 *         directory lies outside the roots; AL_ERR_EXECUTION when `.git` leads to no git directory.
 *         Caller frees.
 */
int al_git_nested_dir(const struct al_location *at, const char *top, char **ret_git_dir);

/**
 * The commit of a nested repository's HEAD, read from its files; "" when it has none or uses
 * reftable.
 *
 * @param path  Its directory, absolute or relative to the working directory.
 * @return NULL when there is no repository inside the roots.  Caller frees.
 */
char *al_git_nested_head(const struct al_location *at, const char *path);

#endif
