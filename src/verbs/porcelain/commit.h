// SPDX-License-Identifier: Apache-2.0
/* Run `git commit`. */
#ifndef AL_VERBS_PORCELAIN_COMMIT_H
#define AL_VERBS_PORCELAIN_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "git/hunks/hunk_list.h"
#include "git/repo/repo.h"
#include "git/run.h"

/**
 * Check a commit before approval is asked for: something is staged or a merge is in progress, and
 * there is an identity.  Appends the staged change as an excerpt for the approval.
 */
int al_git_commit_preview(const struct al_repo *repo, struct al_str *out, struct al_error *err);

/**
 * Describe the commit that `git commit` would make now: each file it changes with both ids and
 * modes, and what its parents are taken from.
 *
 * @param index              The index file to commit; NULL: the repository's own.
 * @param[in,out] expected   For al_git_commit(): an earlier one, or NULL, is replaced.  The caller
 *                           frees it.
 * @param[out] ret_same      It is as it was; NULL: not asked.
 */
int al_git_expect_commit(const struct al_repo *repo, const char *index, char **expected,
                         bool *ret_same, struct al_error *err);

/** Compare what an index would commit now with that; AL_ERR_EXECUTION when it differs. */
int al_git_check_expected(const struct al_repo *repo, const char *index, const char *expected,
                          struct al_error *err);

/** Options of `git commit`.  Zero-initialised with a message, it commits what is staged. */
struct al_commit_options {
    const char *message; /**< NULL: with `amend`, that of the commit stays */
    bool amend, allow_empty;
    const char *author; /**< "Name <address>"; NULL: the identity of the configuration */
    const char *index;  /**< the index to commit; NULL: the repository's own.  Borrowed */
    const char *head;   /**< the commit that HEAD must be at, "" on an unborn branch; NULL: where it
                             is when this is called.  With `index`: where it was when that was made */
    const char *expected; /**< the result of al_git_expect_commit() when the user was shown the
                               change; NULL: commit whatever is staged */
};

/**
 * Run `git commit`.  Nothing to commit and a missing identity are errors of their own.
 *
 * @return AL_ERR_EXECUTION with AL_CODE_CONFLICT when HEAD moved meanwhile; nothing was committed.
 *         AL_ERR_EXECUTION also when the commit would not be the expected one; one that git itself
 *         concluded stays for the caller to undo.
 */
int al_git_commit(struct al_repo *repo, const struct al_commit_options *options, size_t max_bytes,
                  struct al_git_output *ret_output, struct al_error *err);

/* --- Commit part --- */

/*
 * Commit a part of what changed, while whatever else is staged stays staged.
 *
 * Two scratch indexes are made: one with exactly what the commit has, and one that is the index
 * after it.  The repository's index is not touched before the commit is made.
 */

/** The part: paths, hunks, both, or every change. */
struct al_commit_part {
    const struct al_strv *paths; /**< as the agent wrote them: their changes on disk, new files
                                    too */
    const struct al_strv *hunks; /**< ids of unstaged and staged hunks */
    const struct al_hunk_sides *sides; /**< with `hunks`: all hunks that there are now */
    const struct al_strv *without; /**< without them: every change but these new files, relative to
                                      the top; NULL: what is staged */
    bool *passed_over;             /**< as in struct al_add_options; may be NULL */
};

/** The scratch indexes.  Zero-initialised there are none. */
struct al_commit_indexes {
    char *commit; /**< what is committed */
    char *after;  /**< the index after the commit */
};

void al_commit_indexes_clear(struct al_commit_indexes *indexes);

/**
 * Make the scratch indexes.  The caller holds the write lock, and also the lock of the index if one
 * of them is to replace it (al_index_lock_take()): since before the hunks were read.
 *
 * @return 0; AL_ERR_BAD_ARGS when a hunk is not there; AL_ERR_EXECUTION when a chosen hunk cannot
 *         be told from a staged one that is not chosen, or git failed.
 */
int al_git_choose_commit(struct al_repo *repo, const struct al_commit_part *part,
                         struct al_commit_indexes *ret_indexes, struct al_error *err);

/** The changes to stage: given paths, all (-A), or those of tracked files (-u). */
enum al_add_mode { AL_ADD_PATHS, AL_ADD_ALL, AL_ADD_UPDATE };

/** Options of `git add`; `paths` is used with AL_ADD_PATHS. */
struct al_add_options {
    enum al_add_mode mode;
    const struct al_strv *paths;
    const struct al_strv
        *without;      /**< names relative to the top that AL_ADD_ALL skips; may be NULL */
    bool limited;      /**< `paths` limits AL_ADD_UPDATE */
    const char *index; /**< the index file to change; NULL: the repository's own.  Borrowed */
    bool *passed_over; /**< set where git passes over some of the paths, outside of the sparse
                          checkout or marked skip-worktree, and stages the others; NULL: that is
                          an error */
};

/** Run `git add`. A non-zero exit code is an error. */
int al_git_add(struct al_repo *repo, const struct al_add_options *options, size_t max_bytes,
               struct al_git_output *ret_output, struct al_error *err);

/** Check that `git add` would find each path: on the disk, or among the files of the index.  The
 * error is git's own.
 *
 * @param affected  The files that the add would change, deleted ones among them.
 * @param or_head   Its deletion may be staged: HEAD's commit has it. */
int al_git_add_check(const struct al_repo *repo, const struct al_strv *paths, bool or_head,
                     const struct al_strv *affected, struct al_error *err);

/** Append the names, relative to the top, that differ between HEAD and an index, those that a
 * rename has left among them.
 *
 * @param index  NULL: the repository's.
 * @param paths  Only these paths of the call; NULL: all. */
int al_git_list_staged(const struct al_repo *repo, const char *index, const struct al_strv *paths,
                       struct al_strv *ret_names, struct al_error *err);

/** Count the entries that differ between HEAD and the index. */
int al_git_count_staged(const struct al_repo *repo, uint64_t *ret_count, struct al_error *err);

#endif
