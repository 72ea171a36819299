// SPDX-License-Identifier: Apache-2.0
/* The files of a working tree as `git ls-files` lists them: entries of the index, and untracked or
 * ignored files. */
#ifndef AL_GITOPS_PLUMBING_LS_FILES_H
#define AL_GITOPS_PLUMBING_LS_FILES_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/error.h"

/** One name; valid during the callback. */
struct al_listed {
    char tag; /**< tag of `git ls-files -v`: '?' for a file that is not in the index, 'S' for an
                 entry that is skip-worktree; lower case for entries that are assume-unchanged */
    unsigned mode;     /**< mode of the entry, 0160000 for a gitlink; 0 for other files */
    const char *oid;   /**< id of the entry, followed by a space; "" for other files */
    unsigned stage;    /**< stage of the entry: 0, or 1 to 3 in a conflict */
    const char *path;  /**< relative to the top; a nested repository ends with '/'.  Unchecked: an
                          index can hold any name */
    const char *entry; /**< the entry as git prints it, up to the path; "" for other files */
    size_t entry_len;
};

/** Gets a name; false ends the listing. */
typedef bool (*al_listed_fn)(void *payload, const struct al_listed *listed);

/**
 * List the index and the untracked files; with `ignored` only the ignored files.  One git child
 * that only reads.
 *
 * @param top_fd  The top of the working tree, open.
 * @return 0; AL_ERR_EXECUTION when git failed; AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_git_list_files(const struct al_repo *repo, int top_fd, bool ignored, al_listed_fn take,
                      void *payload, struct al_run_limits *budget, struct al_error *err);

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
