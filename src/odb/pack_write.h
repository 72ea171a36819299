// SPDX-License-Identifier: Apache-2.0
/*
 * Writing packs.  Objects are written as they come, whole and without deltas; then the index; then
 * both files get the names that make them visible.
 *
 * A writer that is killed before that leaves files that nothing reads.  Source: gitformat-pack(5).
 */
#ifndef AL_ODB_PACK_WRITE_H
#define AL_ODB_PACK_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "odb/pack_image.h"
#include "util/error.h"

/** Every object is smaller than this, so that each offset in a pack fits into 31 bits. */
#define AL_PACK_OBJECT_MAX_BYTES (1u << 30)

struct al_pack;

/**
 * Create a pack.  Nothing is written before the first object.
 *
 * @param dir_fd   objects/pack, borrowed.
 * @param durable  A finished pack is on the disk.  Otherwise the caller synchronises it.
 */
struct al_pack *al_pack_new(int dir_fd, bool sha256, bool durable);

/** Store the objects without compressing them, for a caller that waits for many. */
void al_pack_store_only(struct al_pack *pack);

/** Declare how many objects will be written, before the first one.  If that many come, the finished
 * pack need not be read once more for its checksum.  0: it is not known. */
void al_pack_expect(struct al_pack *pack, uint32_t count);

/** Release the pack, and remove its file if it was not finished. */
void al_pack_free(struct al_pack *pack);

/** Begin an object of a known size. */
int al_pack_begin(struct al_pack *pack, enum al_object_type type, uint64_t size,
                  struct al_error *err);

/** Add the next bytes of the object. */
int al_pack_add(struct al_pack *pack, const void *data, size_t len, struct al_error *err);

/** Complete the object.  All bytes of its size must have been added. */
int al_pack_end(struct al_pack *pack, struct al_oid *ret_oid, struct al_error *err);

/** Remove the object that was begun or ended last. */
int al_pack_undo(struct al_pack *pack, struct al_error *err);

/** Bytes written so far, including packs that were finished on the way. */
uint64_t al_pack_bytes(const struct al_pack *pack);

/** Make every object visible, except one that was begun and not ended. */
int al_pack_finish(struct al_pack *pack, struct al_error *err);

/**
 * Complete a pack that is still in memory, and take it out.  The pack is empty afterwards, and no
 * file was written.
 *
 * @return False when it is so large that a part is in a file; then al_pack_finish() completes it.
 * Ownership: the caller clears the image.
 */
bool al_pack_take_image(struct al_pack *pack, struct al_pack_image *ret_image);

#endif
