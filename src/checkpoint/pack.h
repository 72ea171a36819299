// SPDX-License-Identifier: Apache-2.0
/*
 * Writing packs: objects as they come, whole and without deltas, then an index, then the names that
 * make both visible.
 *
 * Killed before that, it leaves files that nobody reads.  Source: gitformat-pack(5).
 */
#ifndef AL_CHECKPOINT_PACK_H
#define AL_CHECKPOINT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "util/error.h"

/** One object is smaller than this, so that every place in a pack fits into 31 bits. */
#define AL_PACK_OBJECT_MAX_BYTES (1u << 30)

struct al_pack;

/** Begin; nothing is written before there is an object.  `dir_fd` (objects/pack) is borrowed. */
struct al_pack *al_pack_new(int dir_fd, bool sha256);

/** Release it, and remove what was not finished. */
void al_pack_free(struct al_pack *pack);

/** Begin an object of a known size. */
int al_pack_begin(struct al_pack *pack, enum al_object_type type, uint64_t size,
                  struct al_error *err);

/** The next of its bytes. */
int al_pack_add(struct al_pack *pack, const void *data, size_t len, struct al_error *err);

/** The object is complete: its size was said and has been added. */
int al_pack_end(struct al_pack *pack, struct al_oid *ret_oid, struct al_error *err);

/** Take back the object that was begun, or ended last. */
int al_pack_undo(struct al_pack *pack, struct al_error *err);

/** Bytes written so far, the packs finished on the way included. */
uint64_t al_pack_bytes(const struct al_pack *pack);

/** Make everything visible but an object that was begun and not ended. */
int al_pack_finish(struct al_pack *pack, struct al_error *err);

#endif
