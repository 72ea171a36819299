// SPDX-License-Identifier: Apache-2.0
/* The worktrees that airlock made are roots again after a restart, and after a rollback. */
#ifndef AL_GITOPS_WORKTREE_ROOTS_H
#define AL_GITOPS_WORKTREE_ROOTS_H

#include <stdbool.h>

struct al_git;

/**
 * Make roots of the worktrees that were made in a working tree which is a root of this session, and
 * that lie in none.
 *
 * Airlock's records say which these are.  A worktree is left out unless its directory is the one
 * that was made, and its two halves name each other.
 *
 * @return whether there is a root more, or one that leads to another directory now: another process
 *         may have brought a worktree back.
 * Threads: safe.
 */
bool al_worktree_admit_recorded(struct al_git *git);

#endif
