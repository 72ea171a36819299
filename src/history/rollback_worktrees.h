// SPDX-License-Identifier: Apache-2.0
/* Branches that other worktrees of the repository have checked out. */
#ifndef AL_HISTORY_ROLLBACK_WORKTREES_H
#define AL_HISTORY_ROLLBACK_WORKTREES_H

#include "history/checkpoint.h"
#include "history/rollback_executions.h"
#include "history/rollback_linked.h"
#include "util/error.h"

/**
 * Leave out the changes of branches that other worktrees have checked out.
 *
 * A branch that none of the undone executions moved was moved by whoever works there, and stays.  A
 * branch that one of them moved is refused: the files and the index of that worktree would then
 * belong to another commit.
 *
 * Source: git-worktree(1), gitrepository-layout(5).
 *
 * @param executions  Those that are undone, and the ones after them; from the index `first`.
 * @param linked      Worktrees that the rollback removes have nothing checked out.
 * @param changes     From the present to the checkpoint; branches that stay are removed.
 * @param lost        Changes in words; those of branches that stay are removed.
 * @return 0; AL_ERR_EXECUTION naming the branch and the worktree; as al_checkpoint_compare().
 */
int al_rollback_leave_worktrees(struct al_store *store, const struct al_executions *executions,
                                size_t first, const struct al_linked_changes *linked,
                                struct al_run_limits *budget, struct al_differences *changes,
                                struct al_strv *lost, struct al_error *err);

#endif
