// SPDX-License-Identifier: Apache-2.0
/* A small pack in memory: the bytes of its two files.  Source: gitformat-pack(5). */
#ifndef AL_ODB_PACK_IMAGE_H
#define AL_ODB_PACK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "util/error.h"
#include "util/str.h"

/** An object of a pack. */
struct al_pack_entry {
    struct al_oid oid;
    uint32_t crc, offset;
};

/** The bytes of a pack and of its index.  Both are empty if there is no object. */
struct al_pack_image {
    struct al_str pack, index;
};

#define AL_PACK_IMAGE_INIT ((struct al_pack_image){ .pack = AL_STR_INIT, .index = AL_STR_INIT })

void al_pack_image_clear(struct al_pack_image *image);

/** Append the bytes of a pack's index.  Sorts the entries by their ids. */
void al_pack_image_add_index(struct al_pack_entry *entries, size_t count,
                             const struct al_oid *pack_sum, bool sha256, struct al_str *out);

/** The name that both files have, without a suffix: "pack-<checksum>". */
void al_pack_image_name(const struct al_pack_image *image, bool sha256,
                        char ret_name[AL_OID_TEXT + 8]);

/** Test whether both files have the checksums in them, and the index is that of the pack.  A torn
 * write is found; content that was made up is not. */
bool al_pack_image_is_whole(const struct al_pack_image *image, bool sha256);

/** Test whether an object of the image is a delta: the bytes alone are no object then.  True as
 * well when the index has another form. */
bool al_pack_image_has_deltas(const struct al_pack_image *image, bool sha256);

/** Test whether the image has every object of another pack's index.  False when the index is in
 * another form. */
bool al_pack_image_has_all(const struct al_pack_image *image, const struct al_str *index,
                           bool sha256);

/**
 * Write the two files, first the pack.
 *
 * @param dir_fd   objects/pack.
 * @param durable  Synchronise the files and the directory.
 */
int al_pack_image_write(const struct al_pack_image *image, int dir_fd, bool sha256, bool durable,
                        struct al_error *err);

/** Join packs that have no deltas.  An object that several of them have is kept once. */
void al_pack_image_join(const struct al_pack_image *images, size_t count, bool sha256,
                        struct al_pack_image *ret_image);

#endif
