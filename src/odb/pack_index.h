// SPDX-License-Identifier: Apache-2.0
/* Which objects the packs of a directory have, by their index files. */
#ifndef AL_ODB_PACK_INDEX_H
#define AL_ODB_PACK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "util/error.h"

struct al_packs;

/**
 * Read objects/pack as it is now.  An index without its pack is ignored.
 * @param dir_fd  Borrowed.
 */
int al_packs_open(int dir_fd, bool sha256, struct al_packs **ret_packs, struct al_error *err);

/** The same without packs that have a .keep file. */
int al_packs_open_unkept(int dir_fd, bool sha256, struct al_packs **ret_packs,
                         struct al_error *err);

/** Read another objects/pack as well. */
int al_packs_add(struct al_packs *packs, int dir_fd, struct al_error *err);

/** No packs yet. */
struct al_packs *al_packs_new(bool sha256);

/** Add the objects of an index that is in memory, which is copied.  One that is malformed is
 * ignored. */
void al_packs_add_index(struct al_packs *packs, const void *index, size_t len);

void al_packs_free(struct al_packs *packs);

/** Test whether one of the packs has the object. */
bool al_packs_have(const struct al_packs *packs, const struct al_oid *oid);

/** The size of a directory of packs. */
struct al_packs_size {
    size_t unkept; /**< packs without a .keep file */
    size_t kept;
    uint64_t bytes; /**< of all files */
};

/** Count and measure the files without opening any. */
int al_packs_measure(int dir_fd, struct al_packs_size *ret_size, struct al_error *err);

#endif
