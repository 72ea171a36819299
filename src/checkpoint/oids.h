// SPDX-License-Identifier: Apache-2.0
/* A list of object ids. */
#ifndef AL_CHECKPOINT_OIDS_H
#define AL_CHECKPOINT_OIDS_H

#include <stddef.h>

#include "gitops/oid.h"

/** Ids.  Zero-initialised, it is empty. */
struct al_oids {
    struct al_oid *items;
    size_t count, capacity;
};

/** Append an id; release the list with al_oids_clear(). */
void al_oids_add(struct al_oids *oids, const struct al_oid *oid);
void al_oids_clear(struct al_oids *oids);

/** Sort the ids as bytes, and drop duplicates. */
void al_oids_sort(struct al_oids *oids);

#endif
