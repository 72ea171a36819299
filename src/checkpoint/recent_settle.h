// SPDX-License-Identifier: Apache-2.0
/* Making the records of the file `recent2` ordinary packs and references, see checkpoint/recent.h.
 */
#ifndef AL_CHECKPOINT_RECENT_SETTLE_H
#define AL_CHECKPOINT_RECENT_SETTLE_H

#include <stdbool.h>

#include "checkpoint/store.h"
#include "gitops/deadline.h"
#include "util/error.h"
#include "util/str.h"

/**
 * Join the packs of all records into one, and pack the references.  Both are on the disk then.  The
 * file `recent2` is locked, and its records stay.
 *
 * @param alone  No other process uses the store: remove the single packs and references.
 */
int al_recent_settle_files(struct al_store *store, bool alone, struct al_error *err);

/** Make a pack and references of the records that are in no other file.  Neither is synchronised.
 * The file `recent2` is locked, and its records stay. */
int al_recent_publish_files(struct al_store *store, struct al_error *err);

/** Settle what another boot of the machine left, and remove what is not whole: packs, references,
 * and caches.  The file `recent2` is locked, and no other process has used the store since the
 * boot.
 */
int al_recent_recover_files(struct al_store *store, struct al_deadline *deadline,
                            struct al_error *err);

#endif
