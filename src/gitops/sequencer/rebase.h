// SPDX-License-Identifier: Apache-2.0
/*
 * Rebase the current branch onto another commit.
 *
 * The repository's configuration chooses neither the backend nor the content of the todo list.  No
 * hook and no merge driver runs, and nothing is signed.
 *
 * Source: git-rebase(1).
 */
#ifndef AL_GITOPS_SEQUENCER_REBASE_H
#define AL_GITOPS_SEQUENCER_REBASE_H

#include "gitops/sequencer/merge.h"

/**
 * Run `git rebase`.  Conflicts are a success, see the outcome: the rebase stays in progress until
 * they are resolved.  When git times out or the call is cancelled, the repository is restored.
 *
 * @param commit  A revision as git accepts it.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR when there are uncommitted changes, with
 *         AL_CODE_CONFLICT or AL_CODE_OPERATION_FAILED when another operation is in progress.
 */
int al_git_rebase_run(struct al_repo *repo, const char *commit, size_t max_bytes,
                      struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                      struct al_error *err);

#endif
