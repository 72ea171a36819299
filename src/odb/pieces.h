// SPDX-License-Identifier: Apache-2.0
/*
 * Files in pieces: a tree of blobs 000000, 000001, ... that are read one after the other.
 *
 * The content decides where a file is cut, so that a change in a large file costs one new piece.
 */
#ifndef AL_ODB_PIECES_H
#define AL_ODB_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "odb/objects.h"
#include "util/error.h"
#include "util/str.h"

/** The pieces of a file while they are written. */
struct al_pieces {
    struct al_objects *objects; /* borrowed */
    struct al_str tree;
    unsigned count;
};

/** Begin a file; al_pieces_end() releases it. */
struct al_pieces al_pieces_begin(struct al_objects *objects);

/** Append these bytes as one piece. */
int al_pieces_put(struct al_pieces *pieces, const void *data, size_t len, struct al_oid *ret_oid,
                  struct al_error *err);

/** Append a piece that the store has. */
void al_pieces_add(struct al_pieces *pieces, const struct al_oid *oid);

/**
 * Append what a file has from an offset on, cut where a rolling hash of the content says so.  Not
 * all of it is in memory at once.
 *
 * @param[out] ret_end  The offset of the end that was read.
 */
int al_pieces_put_rest(struct al_pieces *pieces, int fd, uint64_t from, uint64_t *ret_end,
                       struct al_error *err);

/** Put the tree of the pieces, unless the status so far (`r`) is an error, which is returned. */
int al_pieces_end(struct al_pieces *pieces, int r, struct al_oid *ret_tree, struct al_error *err);

/** Put bytes in pieces, cut where a rolling hash of the content says so.  Empty data gives an empty
 * tree. */
int al_objects_put_pieces(struct al_objects *objects, const void *data, size_t len,
                          struct al_oid *ret_tree, struct al_error *err);

#endif
