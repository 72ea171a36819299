// SPDX-License-Identifier: Apache-2.0
/*
 * Continue a rebase, a cherry-pick or a revert that stopped, with the commit it stopped at or
 * without it (--skip).
 *
 * The todo list of a cherry-pick or a revert is a file in the repository, like a rebase's, so it is
 * vetted: airlock refuses a sequence that signs or has a merge strategy of its own.
 *
 * Source: git-cherry-pick(1), git-revert(1), "SEQUENCER SUBCOMMANDS".
 */
#ifndef AL_VERBS_PORCELAIN_RESUME_H
#define AL_VERBS_PORCELAIN_RESUME_H

#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"

/** The operation that a commit continues or concludes: a rebase, a cherry-pick or a revert; else
 * AL_IN_PROGRESS_NONE. A merge is not one of them, since any commit concludes it. */
enum al_operation_state al_git_resumable(const struct al_repo *repo);

/** Test whether a `git merge --autostash` stopped: the commit that concludes it starts a `git
 * stash`, which applies the changes that were set aside to the files.  Source: git-merge(1). */
bool al_git_has_autostash(const struct al_repo *repo);

/** Test whether continuing may write the working tree, because more than one commit may be left. */
bool al_git_resume_writes(const struct al_repo *repo);

/** Check al_git_resume() before approval is asked for, like al_git_rebase_check(). */
int al_git_resume_check(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_error *err);

/** Append the staged change and the number of remaining commits, as an excerpt for an approval. */
int al_git_resume_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err);

/**
 * Commit what is staged and continue with the remaining commits.  Another conflict is a success,
 * see the outcome.  When git times out, is cancelled, or fails without conflicts, the repository is
 * restored.
 *
 * @param message   Message of the next commit; NULL: its own.
 * @param expected  As for al_git_commit(), when `message` is given; NULL: no approval was asked
 * for.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_NO_STAGED_CHANGES when the commit would be empty.
 */
int al_git_resume(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                  struct al_error *err);

/** Append one line of safe text, such as "The rebase in progress went on to its end." */
void al_git_resume_summary(const struct al_repo *repo, enum al_operation_state state,
                           struct al_str *out);

/** Set the error for a later commit that is in conflict after this one was made. Returns
 * AL_ERR_EXECUTION with AL_CODE_CONFLICT. */
int al_git_resume_conflicted(enum al_operation_state state, const struct al_merge_outcome *outcome,
                             struct al_error *err);

/**
 * Check al_git_skip() before approval is asked for: a rebase, cherry-pick or revert is in progress,
 * and what is left of it is allowed, as for continuing.
 */
int al_git_skip_check(const struct al_repo *repo, struct al_run_limits *budget,
                      struct al_error *err);

/**
 * Run git with `--skip`.  Another conflict is a success, see the outcome.  When git times out, is
 * cancelled, or fails without conflicts, the repository is restored to where it had stopped.
 */
int al_git_skip(struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                struct al_merge_outcome *ret_outcome, struct al_error *err);

#endif
