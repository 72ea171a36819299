// SPDX-License-Identifier: Apache-2.0
/* Packs new commits without git: an entry of the stash that was just made. */
#ifndef AL_CHECKPOINT_PIN_NEW_H
#define AL_CHECKPOINT_PIN_NEW_H

#include "checkpoint/store.h"
#include "checkpoint/tips.h"
#include "odb/pack_image.h"

/** More commits are left to git. */
#define AL_PIN_COMMITS_MAX 16u

/**
 * Pack in memory what these commits lead to and the references do not, if it is little.
 *
 * @param wanted      Commits.
 * @param references  Where the walk from them ends.
 * @param[out] ret_image  The pack, without deltas; empty: git has to do it.
 */
int al_pin_pack_new(struct al_store *store, const struct al_tip_list *wanted,
                    const struct al_tip_list *references, struct al_pack_image *ret_image,
                    struct al_error *err);

#endif
