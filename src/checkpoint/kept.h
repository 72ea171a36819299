// SPDX-License-Identifier: Apache-2.0
/*
 * The packs that keep commits which a repository may lose, see checkpoint/pin.h.
 *
 * Such a pack has a .keep file.  Its time says when a checkpoint needed the pack last.  The file
 * `kept` says which pack has which fragile tip: "<oid> SP <hash of the pack>".  A pack that is only
 * in `recent2` is in no such file yet.
 */
#ifndef AL_CHECKPOINT_KEPT_H
#define AL_CHECKPOINT_KEPT_H

#include <stdint.h>

#include "checkpoint/store.h"
#include "checkpoint/tips.h"
#include "odb/pack_image.h"
#include "util/error.h"
#include "util/str.h"

/** Find those tips that a kept pack has, and mark their packs as still needed. */
void al_kept_find(struct al_store *store, const struct al_tip_list *tips,
                  struct al_tip_list *ret_kept);

/** Keep a pack of the store that has these tips: "pack-<hash>".  It is on the disk already. */
int al_kept_add(struct al_store *store, const char *hash, const struct al_strv *tips,
                struct al_error *err);

/** Write a pack that has these tips, and keep it.  Everything is on the disk then. */
int al_kept_write(struct al_store *store, const struct al_pack_image *image,
                  const struct al_strv *tips, struct al_error *err);

/** Stop keeping the packs that no checkpoint since `oldest_s` (seconds since 1970) needed. */
void al_kept_release(struct al_store *store, int64_t oldest_s);

#endif
