// SPDX-License-Identifier: Apache-2.0
/*
 * The pieces of an index file.  They end where entries end, so that what is known of a piece is
 * known of its entries.
 *
 * A piece that is as it was in the checkpoint before is hashed and nothing else: it is neither
 * parsed nor written, and what it names is in the store.
 *
 * Source: gitformat-index(5).
 */
#ifndef AL_CHECKPOINT_INDEX_PIECES_H
#define AL_CHECKPOINT_INDEX_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "checkpoint/oids.h"
#include "gitops/deadline.h"
#include "gitops/plumbing/index_scan.h"
#include "odb/objects.h"
#include "util/str.h"

/** A piece that has entries. */
struct al_index_piece {
    uint32_t bytes, nentries;
    uint32_t noids;     /**< objects that the entries name and a checkpoint has */
    uint32_t has_marks; /**< an entry is marked: git does not look at its file, or needs none */
    uint32_t is_cut;    /**< it ends because of its content, not because the entries end */
    struct al_oid oid;  /**< the blob in the store */
};

/** The pieces of an index, in its order.  Set up with AL_INDEX_PIECES_INIT. */
struct al_index_pieces {
    struct al_index_piece *items;
    size_t count, capacity;
    uint32_t version;   /* of the index file */
    struct al_str ends; /**< the path of the last entry of each piece, with its NUL */
    struct al_str oids; /**< the objects of all entries, as bytes one after the other */
};

#define AL_INDEX_PIECES_INIT ((struct al_index_pieces){ .ends = AL_STR_INIT, .oids = AL_STR_INIT })

void al_index_pieces_clear(struct al_index_pieces *pieces);

/** An index that is put into a store. */
struct al_index_put {
    int fd;                               /**< the file; its offset is moved */
    const struct al_index_pieces *before; /**< pieces that the store has; NULL for none */
    struct al_deadline *deadline;

    /* What al_index_put() finds.  The caller clears it. */
    struct al_index_pieces now;
    enum al_index_end end;
    bool has_marks;
    /** Objects that entries of new pieces name, and those that entries of former pieces named that
     * are no longer there. */
    struct al_oids added, gone;
    uint64_t bytes; /**< of the file, as far as it was read */
};

#define AL_INDEX_PUT_INIT ((struct al_index_put){ .fd = -1, .now = AL_INDEX_PIECES_INIT })

void al_index_put_clear(struct al_index_put *put);

/**
 * Put an index file as pieces (odb/pieces.h).  All its bytes are put, also those of an index that
 * is not understood; `end` then says so, and the rest of what was found is not valid.
 *
 * @return 0; AL_ERR_EXECUTION; AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_index_put(struct al_index_put *put, struct al_objects *objects, struct al_oid *ret_tree,
                 struct al_error *err);

#endif
