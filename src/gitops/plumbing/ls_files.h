// SPDX-License-Identifier: Apache-2.0
/* The files of a working tree as `git ls-files` lists them: entries of the index, and untracked or
 * ignored files. */
#ifndef AL_GITOPS_PLUMBING_LS_FILES_H
#define AL_GITOPS_PLUMBING_LS_FILES_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/error.h"

/** Gets a path, relative to the top, as the only field; a nested repository ends with '/'.
 * Unchecked: an index can hold any name.  False ends the listing. */
typedef bool (*al_listed_fn)(void *payload, char *const *fields);

/** List the tracked files, and the untracked ones that are not ignored.
 *
 * @param top_fd  The top of the working tree. */
int al_git_list_files(const struct al_repo *repo, int top_fd, al_listed_fn take, void *payload,
                      struct al_run_limits *budget, struct al_error *err);

/* --- Ls files tracked --- */

/* Tracked files, by their names. */

/** Append the tracked files that `names` (relative to the top) name or contain.  For names that do
 * not exist on disk.  One git child for each batch of names. */
int al_repo_tracked_files(const struct al_repo *repo, const struct al_strv *names,
                          struct al_run_limits *budget, struct al_strv *ret_files,
                          struct al_error *err);

/* --- Check ignore --- */

/*
 * The paths that git ignores.
 *
 * Source: git-check-ignore(1), gitignore(5).
 */

/**
 * Find the first of these paths that is ignored and not tracked.
 *
 * @param paths       As the agent wrote them.
 * @param ret_rule    "<path> is ignored by <file>:<line> <pattern>", safe text; NULL: none is
 *                    ignored.  Caller frees.
 */
int al_git_find_ignored(const struct al_repo *repo, const struct al_strv *paths,
                        struct al_run_limits *budget, char **ret_rule, struct al_error *err);

#endif
