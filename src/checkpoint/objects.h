// SPDX-License-Identifier: Apache-2.0
/*
 * Putting objects into a store: each one once, known ones not at all.
 *
 * What is put becomes visible with al_objects_finish() and not before.
 */
#ifndef AL_CHECKPOINT_OBJECTS_H
#define AL_CHECKPOINT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "checkpoint/pack.h"
#include "checkpoint/packs.h"
#include "gitops/oid.h"
#include "util/error.h"
#include "util/str.h"

/** Objects on their way into a store. */
struct al_objects {
    bool sha256;
    int dir_fd; /* objects/pack; borrowed */
    struct al_pack *pack;
    struct al_packs *packs; /* NULL until something had to be looked up */
    struct al_oid_set known;
    struct al_str used; /* ids of what was put, new or not */
};

void al_objects_init(struct al_objects *objects, int dir_fd, bool sha256);
void al_objects_clear(struct al_objects *objects);

/** An object that is in the store for sure, or will be. */
void al_objects_know(struct al_objects *objects, const struct al_oid *oid);

/** Whether the store has it, or will have it. */
bool al_objects_has(struct al_objects *objects, const struct al_oid *oid);

/** Put an object that is in memory, unless it is there. */
int al_objects_put(struct al_objects *objects, enum al_object_type type, const void *data,
                   size_t len, struct al_oid *ret_oid, struct al_error *err);

/** Put bytes in pieces: a tree of blobs, cut where their content says so.  An empty one has none.
 */
int al_objects_put_pieces(struct al_objects *objects, const void *data, size_t len,
                          struct al_oid *ret_tree, struct al_error *err);

/** Packs changed behind our back: look again. */
void al_objects_look_again(struct al_objects *objects);

/** Make what was put visible. */
int al_objects_finish(struct al_objects *objects, struct al_error *err);

#endif
