// SPDX-License-Identifier: Apache-2.0
/* Turns: how many children work at once, first come first served. */
#ifndef AL_PROC_SLOTS_H
#define AL_PROC_SLOTS_H

#include "proc/cancel.h"
#include "util/error.h"

/**
 * Wait for a turn.
 *
 * @return 0, AL_ERR_CANCELLED when `cancel` (may be NULL) fired before or while waiting, or
 *         AL_ERR_EXECUTION when descriptors ran out.  Only after 0 is al_slot_give() due.
 */
int al_slot_take(struct al_cancel *cancel, struct al_error *err);

/** Give the turn to whoever waits longest. */
void al_slot_give(void);

#endif
