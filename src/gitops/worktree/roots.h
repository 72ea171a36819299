// SPDX-License-Identifier: Apache-2.0
/* The worktrees that airlock made are roots again after a restart. */
#ifndef AL_GITOPS_WORKTREE_ROOTS_H
#define AL_GITOPS_WORKTREE_ROOTS_H

struct al_git;

/**
 * Make roots of the worktrees that were made in a working tree which is a root of this session, and
 * that lie in none.
 *
 * Airlock's records say which these are.  A worktree is left out unless its directory is the one
 * that was made, and its two halves name each other.  Before a second thread uses the roots.
 */
void al_worktree_admit_recorded(struct al_git *git);

#endif
