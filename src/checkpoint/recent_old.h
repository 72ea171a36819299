// SPDX-License-Identifier: Apache-2.0
/*
 * The file `recent`, in which an older airlock has the newest checkpoints.
 *
 * An older airlock that uses the same store now takes what is in `recent` for checkpoints that are
 * in other files too, and begins it anew.  So the newest checkpoints are in a file that it does not
 * know, and what is in `recent` is settled whenever the store is opened.
 */
#ifndef AL_CHECKPOINT_RECENT_OLD_H
#define AL_CHECKPOINT_RECENT_OLD_H

#include "checkpoint/store.h"
#include "gitops/deadline.h"
#include "util/error.h"

/** Make packs and references of what is in `recent`, and recover if another boot wrote it.  The
 * file goes if no other process uses the store.  `store->recent` is not open yet. */
int al_recent_take_old(struct al_store *store, struct al_deadline *deadline, struct al_error *err);

#endif
