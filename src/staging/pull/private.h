// SPDX-License-Identifier: Apache-2.0
/* For pull/ only: the steps of a pull. */
#ifndef AL_STAGING_PULL_PRIVATE_H
#define AL_STAGING_PULL_PRIVATE_H

#include "git/command.h"
#include "staging/base.h"
#include "staging/pull/pull.h"
#include "staging/sandbox/sandbox.h"

/* --- What happens with each file --- */

/*
 *   sandbox    incoming   what happens
 *
 *   as base    changed    the incoming file is taken; one that is gone is removed
 *   changed    as base    the sandbox's file stays
 *   changed    the same   nothing; the file counts as pulled from now on
 *   changed    changed    the lines are merged, or the path is a conflict
 *   changed    gone       a conflict; the sandbox's file stays
 *   gone       changed    a conflict; the incoming file is there again
 */

/** A file of the commit, or one that came from its branch and is there no longer. */
struct al_pull_item {
    char *path;
    struct al_sandbox_version theirs, base, ours;
    bool is_lfs; /**< its content is a pointer of git-lfs(1) */
    bool chosen;
    const char *skipped;  /**< why it is left alone; NULL: it is not */
    const char *conflict; /**< what happened; NULL: no conflict */
    bool merges;          /**< lines have to be merged; `mode` of the result is known already */
    bool changes;         /**< the sandbox's file becomes `result` */
    bool is_settled;      /**< `theirs` becomes the base */
    bool is_blocked;      /**< there is no place for it in the sandbox */
    bool has_texts;       /**< these are set: the store may not have what the agent wrote, nor
                               what was merged from it */
    struct al_str ours_text, result_text;
    bool has_markers;        /**< `result` has conflict markers */
    bool has_all_separators; /**< and every line `=======` is one */
    struct al_sandbox_version result;
};

/** A pull that runs. */
struct al_pull {
    struct al_staging *staging;
    const struct al_pull_request *request;
    const char *origin_name;
    struct al_run_limits *budget;
    struct al_tree_reader commit; /**< its files are what comes */
    struct al_base base, origin;
    struct al_sandbox_files files; /**< of the sandbox */
    bool allows_symlinks;
    struct al_pull_item *items; /**< sorted by path */
    size_t count;
    bool is_begun; /**< private to apply.c: files may have changed */
    struct al_error *err;
};

void al_pull_clear(struct al_pull *pull);

/** Put the four lists of files side by side.  Nothing is chosen yet. */
void al_pull_list(struct al_pull *pull);

/** Decide about the chosen items, except about lines that have to be merged. */
void al_pull_decide(struct al_pull *pull);

/** A file cannot take the place of a directory of the sandbox, nor lie below a file of it: such
 * changes become conflicts. */
void al_pull_check_places(struct al_pull *pull);

/** The item leaves the sandbox as it is, for this reason. */
void al_pull_keep_ours(struct al_pull_item *item, const char *conflict);

/* --- Content --- */

/** List the files of the commit that is pulled from. */
int al_pull_read_commit(struct al_pull *pull);

/** Ask a repository on GitHub for the content of the chosen files that changed there.  Needs no
 * lock, so that other calls go on while the network is slow.  Does nothing for other repositories.
 */
int al_pull_bring_blobs(const struct al_pull *pull);

/**
 * Copy the content of these files into the store, durable.
 *
 * The commit, its trees and every blob are hashed, and compared with their ids: a forged object
 * does not get into the store, nor does a forged tree decide which files there are.
 *
 * @return 0; AL_ERR_EXECUTION naming an object that is forged or missing, or when the blobs are
 *         larger than staging.max_bytes.
 */
int al_pull_copy_blobs(struct al_pull *pull);

/**
 * Merge the lines of every item with `merges`, whose incoming version the store has.  Beside a
 * directory the results are put into the store with the versions that they replace, for a pull that
 * is killed; what is in memory alone is in no file.
 */
int al_pull_merge(struct al_pull *pull);

/* --- Changing the sandbox, all of it or nothing --- */

/*
 * In a directory the files change one after the other.  From before the first change until the base
 * has been written, refs/pull/<key> is a commit of the changed files as they become; its parent has
 * them as they were, and its message names the base.  So a pull that was killed in between is taken
 * back by the next session.  A file is there as a whole or not at all.
 */

/**
 * Make the changes.  The store has both versions of every file already.  With the store's
 * lock held.
 *
 * @return 0; AL_ERR_EXECUTION, also when a file has changed since it was decided.  What was
 *         changed until then, al_pull_take_back() changes back.
 */
int al_pull_apply(struct al_pull *pull);

/** Undo the changes of a pull that failed.  Files that are not as the pull left them stay. */
void al_pull_take_back(struct al_pull *pull);

/** The base has been written: the pull is complete. */
int al_pull_complete(const struct al_pull *pull);

#endif
