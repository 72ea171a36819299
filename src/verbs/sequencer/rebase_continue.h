// SPDX-License-Identifier: Apache-2.0
/*
 * Continue a rebase that stopped.
 *
 * The todo list is a file in the repository, so it is vetted: airlock refuses a rebase that would
 * run a program, write other references than its own branch, merge, or sign.
 *
 * Source: git-rebase(1), "INTERACTIVE MODE", "REBASING MERGES".
 */
#ifndef AL_VERBS_SEQUENCER_REBASE_CONTINUE_H
#define AL_VERBS_SEQUENCER_REBASE_CONTINUE_H

#include <stddef.h>

#include "base/str.h"
#include "git/repo/repo.h"
#include "verbs/sequencer/merge.h"

/**
 * Check al_git_rebase_continue() before approval is asked for: a rebase is in progress, HEAD is
 * detached, no conflict is left (AL_CODE_CONFLICT), there is an identity, and the todo list is
 * allowed (AL_CODE_OPERATION_FAILED).
 */
int al_git_rebase_check(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_error *err);

/** The part of al_git_rebase_check() that is about the rebase itself: conflicts may be left.
 *
 * @param[out] ret_left  The number of commits that are left after the present one.
 */
int al_git_rebase_vet(const struct al_repo *repo, struct al_run_limits *budget, size_t *ret_left,
                      struct al_error *err);

/** Append the staged change and the number of remaining commits, as an excerpt for an approval. */
int al_git_rebase_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err);

/**
 * Run `git rebase --continue`: commit what is staged and replay the remaining commits.  A commit
 * that became empty is dropped.  Another conflict is a success, see the outcome.  When git times
 * out, is cancelled, or fails without conflicts, the repository is restored to where the rebase had
 * stopped.
 *
 * @param message  Message of the next commit; NULL: its own.
 */
int al_git_rebase_continue(struct al_repo *repo, const char *message, size_t max_bytes,
                           struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                           struct al_error *err);

/* --- Todo --- */

/*
 * What an operation that stopped has left to do: the todo list of a rebase, and that of a
 * cherry-pick or a revert of several commits.  Both are files in the repository, so they are
 * vetted.
 *
 * Source: git-rebase(1), "INTERACTIVE MODE"; git-cherry-pick(1), "SEQUENCER SUBCOMMANDS".
 */

/**
 * Vet the todo list of a rebase.
 * @param[out] ret_left     The number of commits in the list.
 * @param      ret_commits  Their ids are appended.
 * @return NULL, or the command that is refused; the caller frees it.
 */
char *al_rebase_vet_todo(const char *todo, size_t *ret_left, struct al_strv *ret_commits);

/**
 * Vet the todo list of a cherry-pick or a revert.
 * @param ret_commits  The commits of the list are appended, the current one first.
 * @return NULL, or the word that is refused; the caller frees it.
 */
char *al_sequencer_vet_todo(const char *todo, struct al_strv *ret_commits);

/** Before a rebase goes on: let it forget the other branches that it was to move at its end, but
 * that somebody else has moved since.  git would fail at its end. */
int al_rebase_forget_moved(const struct al_repo *repo, struct al_error *err);

/** The commits that the operation in progress replays after the one at which it stopped, in order,
 * appended.  Their ids may be abbreviated.  A list that cannot be read, or is refused, has none. */
void al_todo_left(const struct al_repo *repo, struct al_strv *out);

/** The parent that the merges among them are compared with, from 1; 0: none was given. */
unsigned al_todo_mainline(const struct al_repo *repo);

#endif
