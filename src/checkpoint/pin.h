// SPDX-License-Identifier: Apache-2.0
/*
 * Keeping what a repository is about to lose, or has just lost: commits that only a reference or a
 * stash reached, which a `git gc --prune=now` there would remove.
 *
 * What a lost reference alone reached is packed into the store when it is lost, without what other
 * references reach.  Those keep it, and are packed in their turn when they are lost, so everything
 * that a reference of any checkpoint reached is either in the repository or in a pack.  A stash, a
 * detached HEAD and the heads of an unfinished operation are packed as soon as they are seen, and
 * nothing is ever left out for their sake.
 */
#ifndef AL_CHECKPOINT_PIN_H
#define AL_CHECKPOINT_PIN_H

#include "checkpoint/gitdir.h"
#include "checkpoint/refs.h"
#include "checkpoint/stat_cache.h"
#include "checkpoint/store.h"

/**
 * Do so for a repository with these references and files.
 *
 * @param head      What was seen; its digest of tips tells whether there is anything to do, and is
 *                  brought up to date.
 * @param dropping  Full names of references that an operation may drop now; may be NULL.
 */
int al_pin_lost(struct al_store *store, const struct al_refs *refs,
                const struct al_gitdir_files *files, const struct al_strv *dropping,
                struct al_stat_cache_head *head, struct al_deadline *deadline,
                struct al_error *err);

/** Let go of kept packs that no checkpoint since `oldest_s` (seconds since 1970) saw. */
void al_pin_release(struct al_store *store, int64_t oldest_s);

#endif
