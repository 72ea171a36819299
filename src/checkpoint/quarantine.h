// SPDX-License-Identifier: Apache-2.0
/*
 * A directory for objects that are not part of the store yet, as git has one for the objects of a
 * push (git-receive-pack(1), "Quarantine environment").
 *
 *   begin    new objects are written here from now on; they are read here and in the store
 *   migrate  the packs become packs of the store
 *   end      the directory is removed with everything in it
 *
 * A process that is killed leaves its quarantine.  Nothing reads it, and al_store_gc() removes it.
 */
#ifndef AL_CHECKPOINT_QUARANTINE_H
#define AL_CHECKPOINT_QUARANTINE_H

#include "checkpoint/store.h"
#include "util/error.h"

/** A quarantine.  At most one is open on a handle of a store. */
struct al_quarantine {
    struct al_store *store; /* borrowed; NULL when there is none */
    char name[64];          /* relative to the bare repository */
    int pack_fd;            /* its directory of packs */
};

#define AL_QUARANTINE_INIT ((struct al_quarantine){ .pack_fd = -1 })

/** Create a quarantine.  `quarantine` must not move until it ends. */
int al_quarantine_begin(struct al_quarantine *quarantine, struct al_store *store,
                        struct al_error *err);

/** Make its packs, which are complete, visible and durable in the store, and end it.  After a
 * failure it is still open. */
int al_quarantine_migrate(struct al_quarantine *quarantine, struct al_error *err);

/** Remove it.  Does nothing when there is none. */
void al_quarantine_end(struct al_quarantine *quarantine);

/** Remove the quarantines of processes that were killed.  The store is locked exclusively. */
void al_quarantine_remove_leftovers(const struct al_store *store);

#endif
