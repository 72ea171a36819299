// SPDX-License-Identifier: Apache-2.0
/*
 * The other working trees of a repository.
 *
 * Source: git-for-each-ref(1) "worktreepath", git-worktree(1).
 */
#ifndef AL_GITOPS_PLUMBING_WORKTREES_H
#define AL_GITOPS_PLUMBING_WORKTREES_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** Find out whether another working tree has a branch checked out.
 *
 * @param ref  The full name of the branch.
 */
int al_git_is_checked_out_elsewhere(const struct al_repo *repo, const char *ref,
                                    struct al_run_limits *budget, bool *ret_is,
                                    struct al_error *err);

#endif
