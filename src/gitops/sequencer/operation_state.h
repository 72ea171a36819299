// SPDX-License-Identifier: Apache-2.0
/*
 * What was begun in a repository and waits to be concluded or given up.
 *
 * Source: git-merge(1), git-rebase(1), git-cherry-pick(1), "--abort".
 */
#ifndef AL_GITOPS_SEQUENCER_OPERATION_STATE_H
#define AL_GITOPS_SEQUENCER_OPERATION_STATE_H

#include "gitops/repo/repo.h"
#include "util/str.h"

enum al_operation_state {
    AL_IN_PROGRESS_NONE,
    AL_IN_PROGRESS_MERGE,
    AL_IN_PROGRESS_REBASE,
    AL_IN_PROGRESS_CHERRY_PICK,
    AL_IN_PROGRESS_REVERT,
    AL_IN_PROGRESS_AM, /**< patches from mail are being applied */
};

/** What is in progress, from the files.  A rebase that stopped in a pick is a rebase. */
enum al_operation_state al_git_operation_state(const struct al_repo *repo);

/** "merge", "rebase", "cherry-pick", "revert" or "am"; "" for none. */
const char *al_operation_state_name(enum al_operation_state state);

/** The same as a noun to be read: "application of patches" for am. */
const char *al_operation_state_noun(enum al_operation_state state);

/** "A rebase is in progress (2 of 5), 1 conflict" appended to `out`; nothing where nothing is. */
void al_git_operation_line(const struct al_repo *repo, size_t conflicts, struct al_str *out);

/** Refuse while something is in progress: with AL_CODE_CONFLICT when there are conflicts, else with
 * AL_CODE_OPERATION_FAILED. */
int al_git_check_no_operation(const struct al_repo *repo, struct al_run_limits *budget,
                              struct al_error *err);

/** Refuse when there is nothing to give up (AL_CODE_OPERATION_FAILED), or when going back would
 * write content through a configured filter. */
int al_git_abort_check(const struct al_repo *repo, struct al_run_limits *budget,
                       struct al_error *err);

/** The files that going back writes over, as al_git_affected_files() and
 * al_git_untracked_overwritten() give them.
 */
int al_git_abort_affected_files(const struct al_repo *repo, struct al_run_limits *budget,
                                struct al_strv *out, struct al_error *err);

/** What going back would lose, as an excerpt appended to `out`. */
int al_git_abort_preview(const struct al_repo *repo, struct al_run_limits *budget,
                         struct al_str *out, struct al_error *err);

/**
 * Give up what is in progress and go back to before it began.
 * @param[out] ret_done  What it was.
 */
int al_git_abort(struct al_repo *repo, struct al_run_limits *budget,
                 enum al_operation_state *ret_done, struct al_error *err);

#endif
