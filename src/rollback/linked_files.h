// SPDX-License-Identifier: Apache-2.0
/* For rollback/linked.h: one worktree that comes back. */
#ifndef AL_ROLLBACK_LINKED_FILES_H
#define AL_ROLLBACK_LINKED_FILES_H

#include "rollback/linked.h"

/** The full name of the branch that the worktree had checked out; NULL: its HEAD was detached.
 * Caller frees. */
char *al_linked_branch(const struct al_linked_saved *saved);

/** Give a worktree the state that a checkpoint has; make it if it is not there. */
int al_linked_restore_one(const struct al_restore *restore, const struct al_linked_change *change,
                          struct al_error *err);

/**
 * Lock or unlock a worktree as it was.  One that was made again under its name is not locked.
 *
 * @param is_back  This rollback has brought it back, so it is the one.
 */
int al_linked_restore_lock(const struct al_restore *restore, const struct al_linked_change *change,
                           bool is_back, struct al_error *err);

#endif
