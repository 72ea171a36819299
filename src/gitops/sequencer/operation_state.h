// SPDX-License-Identifier: Apache-2.0
/*
 * The operation in progress in a repository, and how to abort it.
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
    AL_IN_PROGRESS_AM, /**< git am */
};

/** Read the operation in progress from the files in the git directory. A rebase that stopped while
 * picking a commit is a rebase. */
enum al_operation_state al_git_operation_state(const struct al_repo *repo);

/** The name of the git command: "merge", "rebase", "cherry-pick", "revert" or "am"; "" for none. */
const char *al_operation_state_name(enum al_operation_state state);

/** A noun for the operation: the command's name, but "application of patches" for am. */
const char *al_operation_state_noun(enum al_operation_state state);

/** The step of a rebase or of git am, and the number of its steps; false: there is none. */
bool al_git_operation_step(const struct al_repo *repo, unsigned long *ret_step,
                           unsigned long *ret_last);

/** Append e.g. "A rebase is in progress (2 of 5), 1 conflict"; nothing when there is neither. */
void al_git_operation_line(const struct al_repo *repo, size_t conflicts, struct al_str *out);

/** Return AL_ERR_EXECUTION while an operation is in progress: with AL_CODE_CONFLICT when there are
 * conflicts, else with AL_CODE_OPERATION_FAILED. */
int al_git_check_no_operation(const struct al_repo *repo, struct al_run_limits *budget,
                              struct al_error *err);

/** Check al_git_abort() before approval is asked for. Fails when no operation is in progress
 * (AL_CODE_OPERATION_FAILED), or when content would be written through a configured filter. */
int al_git_abort_check(const struct al_repo *repo, struct al_run_limits *budget,
                       struct al_error *err);

/** Append the files that al_git_abort() would overwrite, as listed by al_git_overwritten_files()
 * and al_git_untracked_overwritten(). */
int al_git_abort_affected_files(const struct al_repo *repo, struct al_run_limits *budget,
                                struct al_strv *out, struct al_error *err);

/** Append the changes that al_git_abort() would lose, as an excerpt for an approval. */
int al_git_abort_preview(const struct al_repo *repo, struct al_run_limits *budget,
                         struct al_str *out, struct al_error *err);

/**
 * Abort the operation in progress, which restores the state before it began.
 * @param[out] ret_done  The operation that was aborted.
 */
int al_git_abort(struct al_repo *repo, struct al_run_limits *budget,
                 enum al_operation_state *ret_done, struct al_error *err);

#endif
