// SPDX-License-Identifier: Apache-2.0
/*
 * Packs with git what lost commits lead to, see checkpoint/pin.h.
 *
 * The history of a lost commit may end where a commit is missing: the repository was made again at
 * the same path, and the store has only what no reference of the old one reached.  Such a commit is
 * packed with its files, without its parents.
 */
#ifndef AL_CHECKPOINT_PIN_GIT_H
#define AL_CHECKPOINT_PIN_GIT_H

#include "checkpoint/store.h"
#include "checkpoint/tips.h"
#include "gitops/deadline.h"
#include "util/error.h"

/**
 * Pack what the wanted commits lead to and the staying ones do not.
 *
 * @param[out] ret_hash  As of al_bare_pack(); NULL when no wanted commit exists any more.
 */
int al_pin_pack_with_git(struct al_store *store, const struct al_tip_list *wanted,
                         const struct al_tip_list *staying, struct al_deadline *deadline,
                         char **ret_hash, struct al_error *err);

#endif
