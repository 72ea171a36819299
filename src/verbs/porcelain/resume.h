// SPDX-License-Identifier: Apache-2.0
/*
 * Continue a rebase, a cherry-pick or a revert that stopped, with the commit it stopped at or
 * without it (--skip).
 *
 * The todo list is a file in the repository, so it is vetted: airlock refuses one that would run a
 * program, write other references than its own branches, merge, sign, or has a merge strategy of
 * its own.
 *
 * Source: git-rebase(1), "INTERACTIVE MODE"; git-cherry-pick(1), git-revert(1), "SEQUENCER
 * SUBCOMMANDS".
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

/** Check al_git_resume() before approval is asked for: no conflict is left (AL_CODE_CONFLICT),
 * there is an identity, what is left to do is allowed (AL_CODE_OPERATION_FAILED), and HEAD is where
 * a rebase has stopped. */
int al_git_resume_check(const struct al_repo *repo, struct al_error *err);

/** Append the staged change and the number of remaining commits, as an excerpt for an approval. */
int al_git_resume_preview(const struct al_repo *repo, struct al_str *out, struct al_error *err);

/**
 * Commit what is staged and continue with the remaining commits.  Another conflict is a success,
 * see the outcome.  The repository is restored when git times out, is cancelled, or fails without
 * conflicts.  A commit of a rebase that became empty is dropped.
 *
 * @param outcome   Set up with AL_MERGE_INIT; to be cleared after a failure, too.
 * @param message   Message of the next commit; NULL: its own.
 * @param expected  As for al_git_commit(), when `message` is given; NULL: no approval was asked
 * for.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_NO_STAGED_CHANGES when the commit would be empty.
 */
int al_git_resume(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_merge_outcome *outcome, struct al_error *err);

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
int al_git_skip_check(const struct al_repo *repo, struct al_error *err);

/**
 * Run git with `--skip`.  Another conflict is a success, see the outcome.  The repository is
 * restored to where it had stopped when git times out, is cancelled, or fails without conflicts.
 */
int al_git_skip(struct al_repo *repo, size_t max_bytes, struct al_merge_outcome *outcome,
                struct al_error *err);

/* --- Todo --- */

/**
 * Vet a todo list.
 *
 * @param rebases      It is that of a rebase; else of a cherry-pick or a revert.
 * @param ret_commits  The commits of the list are appended, whose ids may be abbreviated: those of
 *                     a cherry-pick or a revert begin with the current one.
 * @return NULL, or the word that is refused; the caller frees it.
 */
char *al_todo_vet(const char *todo, bool rebases, struct al_strv *ret_commits);

/** The commits that the operation in progress replays after the one at which it stopped, in order,
 * appended.  Their ids may be abbreviated.  A list that cannot be read, or is refused, has none. */
void al_todo_left(const struct al_repo *repo, struct al_strv *out);

/** The parent that the merges among them are compared with, from 1; 0: none was given. */
unsigned al_todo_mainline(const struct al_repo *repo);

#endif
