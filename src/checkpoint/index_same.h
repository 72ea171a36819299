// SPDX-License-Identifier: Apache-2.0
/*
 * Which pieces of a large index are as they were and where they were, found out by a thread of its
 * own.
 *
 * Most changes leave everything in its place.  Hashing is most of what a checkpoint of an unchanged
 * piece costs, so while the first half of them is looked at, the thread hashes the other half.
 */
#ifndef AL_CHECKPOINT_INDEX_SAME_H
#define AL_CHECKPOINT_INDEX_SAME_H

#include "checkpoint/index_pieces.h"

struct al_index_same;

/**
 * Begin to look.
 *
 * @param fd      The index now; borrowed until al_index_same_free().  Its offset does not matter.
 * @param before  The pieces that it had; borrowed as well.  NULL: there are none.
 * @return NULL when there are too few pieces for a thread to pay.
 */
struct al_index_same *al_index_same_begin(int fd, const struct al_index_pieces *before,
                                          bool sha256);

/** Test whether piece number `i` was read at this offset of the file, with the bytes that it had.
 * False as well while that is not known.  NULL is allowed. */
bool al_index_same_has(const struct al_index_same *same, size_t i, uint64_t offset);

/** End the thread and wait for it.  NULL is allowed. */
void al_index_same_free(struct al_index_same *same);

#endif
