// SPDX-License-Identifier: Apache-2.0
/*
 * Packs into the store the commits that a repository is about to lose or has just lost: those that
 * only a reference or a stash reached.  `git gc --prune=now` in the repository would remove them.
 *
 * When a commit is packed depends on what reaches it:
 *
 *   a reference                          when this reference is lost
 *   the stash, a detached HEAD, heads
 *   of an operation that is in progress  as soon as a checkpoint sees it
 *
 * A pack of the first kind leaves out what other references reach.  That is packed in turn when
 * these are lost.  So every commit that a reference of any checkpoint reached is either in the
 * repository or in a pack.  What only the stash or such a head reaches is never left out.
 */
#ifndef AL_CHECKPOINT_PIN_H
#define AL_CHECKPOINT_PIN_H

#include "checkpoint/gitdir.h"
#include "checkpoint/refs.h"
#include "checkpoint/stat_cache.h"
#include "checkpoint/store.h"

/**
 * Pack what a repository with these references and files has lost since this was called last.
 *
 * @param dropping  Full names of references that an operation may delete or move now; may be NULL.
 */
int al_pin_lost(struct al_store *store, const struct al_refs *refs,
                const struct al_gitdir_files *files, const struct al_strv *dropping,
                struct al_deadline *deadline, struct al_error *err);

/** After another boot: the next checkpoint looks at every fragile tip again, since the pack that
 * kept it may be lost.  What the last checkpoint found is on the disk then. */
int al_pin_distrust(struct al_store *store, struct al_error *err);

#endif
