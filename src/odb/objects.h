// SPDX-License-Identifier: Apache-2.0
/*
 * Writing objects into a store, each once.  Objects that the store has are not written again.
 *
 * New objects become visible with al_objects_finish().
 */
#ifndef AL_ODB_OBJECTS_H
#define AL_ODB_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/oid.h"
#include "odb/pack_index.h"
#include "odb/pack_write.h"
#include "util/error.h"
#include "util/str.h"

/** Test whether a store has an object. */
typedef bool (*al_has_object_fn)(void *payload, const struct al_oid *oid);

/** Objects that are being written into a store. */
struct al_objects {
    bool sha256;
    int dir_fd;        /* objects/pack; borrowed */
    int quarantine_fd; /* where new packs are written instead; borrowed, -1 for none */
    struct al_pack *pack;
    struct al_packs *packs;     /* NULL until an object had to be looked up */
    al_has_object_fn store_has; /* NULL: objects/pack is read */
    void *store_payload;
    struct al_oid_set known;
    struct al_str used; /* ids of the objects that were put, whether the store had them or not */
};

/**
 * @param dir_fd         objects/pack of the store.
 * @param quarantine_fd  The same of a quarantine, a directory that gets the new objects and is not
 *                       part of the store yet.  Its packs are not synchronised.  -1 for none.
 */
void al_objects_init(struct al_objects *objects, int dir_fd, int quarantine_fd, bool sha256);
void al_objects_clear(struct al_objects *objects);

/** Ask `has` whether the store has an object, instead of reading its packs. */
void al_objects_ask(struct al_objects *objects, al_has_object_fn has, void *payload);

/** Declare an object that the store has, or will have when these objects are finished. */
void al_objects_know(struct al_objects *objects, const struct al_oid *oid);

/** Test whether the store or the quarantine has the object, or will have it. */
bool al_objects_has(struct al_objects *objects, const struct al_oid *oid);

/** Put an object that is in memory, unless the store has it. */
int al_objects_put(struct al_objects *objects, enum al_object_type type, const void *data,
                   size_t len, struct al_oid *ret_oid, struct al_error *err);

/** Forget the packs that were read: there are new ones. */
void al_objects_look_again(struct al_objects *objects);

/** Take the new objects out of memory instead of making them visible.  False when there are so many
 * that they are in a file already. */
bool al_objects_take_image(struct al_objects *objects, struct al_pack_image *ret_image);

/** Make the objects visible. */
int al_objects_finish(struct al_objects *objects, struct al_error *err);

#endif
