// SPDX-License-Identifier: Apache-2.0
/*
 * Going on with a rebase that stopped.
 *
 * What is left to do stands in files of the repository, so it is vetted: a rebase that would run a
 * program, write other references than the branch it is about, merge, or sign is left to git
 * itself.
 *
 * Source: git-rebase(1), "INTERACTIVE MODE", "REBASING MERGES".
 */
#ifndef AL_GITOPS_SEQUENCER_REBASE_CONTINUE_H
#define AL_GITOPS_SEQUENCER_REBASE_CONTINUE_H

#include "gitops/sequencer/merge.h"

/** What is left to do beyond this many bytes is not looked through, and refused. */
#define AL_REBASE_TODO_BYTES (4u << 20)

/**
 * What must be so before anyone is asked: a rebase is in progress, HEAD is on no branch, no
 * conflict is left (AL_CODE_CONFLICT), there is an identity, and nothing of what is left to do is
 * refused (AL_CODE_OPERATION_FAILED).
 */
int al_git_rebase_check(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_error *err);

/** What goes into the commit, and how many are replayed after it, appended to `out`. */
int al_git_rebase_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err);

/**
 * `git rebase --continue`: commit what is staged and replay the rest.  A commit of which nothing is
 * left is dropped.  Another conflict is a success, see the outcome.  Interrupted, or where git
 * fails without conflicts, the repository is put back as it was when it had stopped.
 *
 * @param message  Of the commit; NULL: its own.
 */
int al_git_rebase_continue(struct al_repo *repo, const char *message, size_t max_bytes,
                           struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                           struct al_error *err);

/** What is wrong with a list of things to do, NULL when nothing is: the word refused, owned by the
 * caller.  *ret_left is how many commits it has. */
char *al_rebase_vet_todo(const char *todo, size_t *ret_left);

#endif
