// SPDX-License-Identifier: Apache-2.0
/*
 * Leave out the commit at which a rebase, a cherry-pick or a revert stopped, and go on.
 *
 * Source: git-rebase(1), git-cherry-pick(1), "--skip".
 */
#ifndef AL_GITOPS_PORCELAIN_SKIP_H
#define AL_GITOPS_PORCELAIN_SKIP_H

#include "gitops/sequencer/merge.h"

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
