// SPDX-License-Identifier: Apache-2.0
/*
 * Replaying the commits of the current branch on top of another commit.
 *
 * Source: git-rebase(1).  A repository chooses neither the backend nor what the list of things to
 * do says, no hook and no merge driver runs, and nothing is signed.
 */
#ifndef AL_GITOPS_SEQUENCER_REBASE_H
#define AL_GITOPS_SEQUENCER_REBASE_H

#include "gitops/sequencer/merge.h"

/**
 * `git rebase`.  Conflicts are a success, see the outcome: the rebase waits for their resolution.
 * Interrupted by its deadline or cancelled, the repository is put back as it was.
 *
 * @param commit  A word git takes for a commit.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_DIRTY_WORKDIR where there are uncommitted changes, with
 *         AL_CODE_CONFLICT or AL_CODE_OPERATION_FAILED where something else is in progress.
 */
int al_git_rebase_run(struct al_repo *repo, const char *commit, size_t max_bytes,
                      struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                      struct al_error *err);

#endif
