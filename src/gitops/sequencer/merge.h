// SPDX-License-Identifier: Apache-2.0
/*
 * Merging a commit into the current branch.
 *
 * Source: git-merge(1).  A repository chooses neither the strategy nor options, no hook and no
 * merge driver runs, and nothing is signed or verified by a program it names.
 */
#ifndef AL_GITOPS_SEQUENCER_MERGE_H
#define AL_GITOPS_SEQUENCER_MERGE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

struct al_git_command;

/** What to merge and how. */
struct al_merge_options {
    const char *commit;  /**< a word git takes for a commit; the label of its side in conflicts */
    const char *oid;     /**< the commit it was shown to be; NULL: whatever it is now */
    const char *message; /**< of a merge commit; NULL: git's own words */
    bool no_ff;          /**< a merge commit even where the branch could simply move */
};

/** How a merge or a rebase ended.  Set up with AL_MERGE_INIT. */
struct al_merge_outcome {
    struct al_strv conflicts; /**< raw paths; it waits for their resolution unless empty */
    bool conflicted;
    bool ran;           /**< git ran to its end, whatever came of it */
    bool in_progress;   /**< al_git_rebase_continue(): the rebase stopped again */
    bool fast_forward;  /**< the branch simply moved */
    bool up_to_date;    /**< nothing came in */
    bool truncated;     /**< the text ends where the cap is */
    struct al_str text; /**< what git said, safe */
};

#define AL_MERGE_INIT ((struct al_merge_outcome){ .text = AL_STR_INIT })

void al_merge_outcome_clear(struct al_merge_outcome *outcome);

/**
 * What must be so before anyone is asked: nothing else is in progress (AL_CODE_CONFLICT,
 * AL_CODE_OPERATION_FAILED), the commit exists, no filter and no custom merge driver would have to
 * run for the right content, and there is an identity where a commit would be made.
 */
int al_git_merge_check(const struct al_repo *repo, const struct al_merge_options *options,
                       struct al_run_limits *budget, struct al_error *err);

/**
 * What comes in: the commits and the change, as excerpts appended to `out`.  The commits are what
 * their ids say.
 *
 * @param[out] ret_any  Whether any commit comes in.
 */
int al_git_merge_preview(const struct al_repo *repo, const struct al_merge_options *options,
                         struct al_run_limits *budget, struct al_str *out, bool *ret_any,
                         struct al_error *err);

/**
 * `git merge`.  Conflicts are a success, see the outcome.  Interrupted by its deadline or
 * cancelled, the repository is put back as it was.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR when local changes or untracked files
 * would be overwritten (ignored ones too), and what al_git_merge_check() returns.
 */
int al_git_merge(struct al_repo *repo, const struct al_merge_options *options, size_t max_bytes,
                 struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                 struct al_error *err);

/** Refuse when one of the paths that differ between `from` and each of `to` goes through a filter
 * or a custom merge driver, by the attributes of either: for whatever merges or replays commits. */
int al_git_check_merge_programs(const struct al_repo *repo, const char *from,
                                const struct al_strv *to, struct al_run_limits *budget,
                                struct al_error *err);

#endif
