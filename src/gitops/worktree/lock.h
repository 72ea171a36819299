// SPDX-License-Identifier: Apache-2.0
/* Locking a linked worktree, so that it is neither removed nor pruned.
 *
 * Source: git-worktree(1) "lock", gitrepository-layout(5) worktrees/<id>/locked. */
#ifndef AL_GITOPS_WORKTREE_LOCK_H
#define AL_GITOPS_WORKTREE_LOCK_H

#include "gitops/repo/repo.h"
#include "gitops/worktree/find.h"
#include "util/error.h"

/**
 * Lock a worktree, or unlock it.
 *
 * @param reason  One line; NULL: none.
 * @param locks   False: unlock it.
 * @return 0; AL_ERR_EXECUTION when it is locked already, or is not.
 */
int al_worktree_set_lock(const struct al_repo *repo, const struct al_worktree_found *found,
                         const char *name, bool locks, const char *reason, struct al_error *err);

#endif
