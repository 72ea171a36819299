// SPDX-License-Identifier: Apache-2.0
/* Which objects the packs of a directory hold, from their index files. */
#ifndef AL_CHECKPOINT_PACKS_H
#define AL_CHECKPOINT_PACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "util/error.h"

struct al_packs;

/**
 * Look at objects/pack as it is now.  An index without its pack does not count.
 * @param dir_fd  Borrowed.
 */
int al_packs_open(int dir_fd, bool sha256, struct al_packs **ret_packs, struct al_error *err);
void al_packs_free(struct al_packs *packs);

/** Whether one of them has the object. */
bool al_packs_have(const struct al_packs *packs, const struct al_oid *oid);

/** What there is in a directory of packs, without opening any. */
struct al_packs_size {
    size_t unkept; /**< packs that are not kept */
    size_t kept;
    uint64_t bytes; /**< of all files */
};

/** Measure it. */
int al_packs_measure(int dir_fd, struct al_packs_size *ret_size, struct al_error *err);

#endif
