// SPDX-License-Identifier: Apache-2.0
/* Branches that other worktrees of the repository have checked out. */
#ifndef AL_ROLLBACK_WORKTREES_H
#define AL_ROLLBACK_WORKTREES_H

#include "checkpoint/checkpoint.h"
#include "gitops/location.h"
#include "util/error.h"

/**
 * Refuse changes that move or delete a branch that another worktree has checked out: its files and
 * index would then belong to another commit.
 *
 * Source: git-worktree(1), gitrepository-layout(5).
 *
 * @return 0; AL_ERR_EXECUTION naming the branch and the worktree.
 */
int al_rollback_check_worktrees(const struct al_location *at, const struct al_differences *changes,
                                struct al_error *err);

#endif
