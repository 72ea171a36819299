// SPDX-License-Identifier: Apache-2.0
/* The small packs of a store, which are joined without git. */
#ifndef AL_CHECKPOINT_SMALL_PACKS_H
#define AL_CHECKPOINT_SMALL_PACKS_H

#include <stddef.h>

#include "checkpoint/store.h"
#include "odb/pack_image.h"

/** Packs in memory.  Zero-initialised is empty. */
struct al_pack_images {
    struct al_pack_image *items;
    size_t count;
};

void al_pack_images_clear(struct al_pack_images *images);

/** Append a pack and take its bytes over. */
void al_pack_images_add(struct al_pack_images *images, struct al_pack_image *image);

/** Append the packs that are small and whole, have no deltas and no .keep file.  One that cannot be
 * read is left out. */
void al_small_packs_read(const struct al_store *store, struct al_pack_images *images);

/** Remove the packs that have nothing else than a joined one, unless they have a .keep file.  No
 * other process uses the store. */
void al_small_packs_unlink(const struct al_store *store, const struct al_pack_image *joined);

/** Remove a pack, or what there is of it: "pack-<checksum>". */
void al_small_packs_unlink_one(const struct al_store *store, const char *stem);

#endif
