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
#include "gitops/plumbing/index_places.h"
#include "gitops/plumbing/index_scan.h"
#include "odb/objects.h"
#include "util/str.h"

/** The contents of a piece, as bits. */
enum al_index_piece_flags {
    AL_INDEX_MARKS =
        1 << 0, /**< an entry is marked: git does not look at its file, or needs none */
    AL_INDEX_GITLINKS = 1 << 1,
    AL_INDEX_CONFLICTS = 1 << 2,
    AL_INDEX_CUT = 1 << 3, /**< it ends because of its content, not because the entries end */
    AL_INDEX_NAMES_ONLY = 1 << 4, /**< only the name of an entry was staged */
};

/** A piece that has entries. */
struct al_index_piece {
    uint32_t bytes, nentries;
    uint32_t flags;    /**< enum al_index_piece_flags */
    uint32_t noids;    /**< objects that the entries name and a checkpoint has */
    uint64_t oids_at;  /**< where their ids are, among those in the file of the cache */
    uint32_t oids_sum; /**< and the sum of these bytes */
    struct al_oid oid; /**< the blob in the store */
};

/** The pieces of an index, in its order.  Set up with AL_INDEX_PIECES_INIT. */
struct al_index_pieces {
    struct al_index_piece *items;
    size_t count, capacity;
    uint32_t version;   /* of the index file */
    struct al_str ends; /**< the path of the last entry of each piece, with its NUL */
};

#define AL_INDEX_PIECES_INIT ((struct al_index_pieces){ .ends = AL_STR_INIT })

void al_index_pieces_clear(struct al_index_pieces *pieces);

/** Tell where the entries of an index with these pieces are. */
void al_index_pieces_places(const struct al_index_pieces *pieces,
                            struct al_index_places *ret_places);

/** An index that is put into a store. */
struct al_index_put {
    int fd;                               /**< the file; its offset is moved */
    const struct al_index_pieces *before; /**< pieces that the store has; NULL for none */
    int before_fd;                        /**< the file with the ids of their objects, or -1 */
    uint64_t before_room;                 /**< where the ids begin in the file */
    uint64_t oids_at;                     /**< where those of new pieces will be among them */
    struct al_deadline *deadline;

    /* Set by al_index_put().  The caller clears it. */
    struct al_index_pieces now;
    enum al_index_end end;
    unsigned flags; /**< of all pieces */
    /** Objects that entries of new pieces name, and those that entries of former pieces named that
     * are no longer there, as far as their ids can be read. */
    struct al_oids added, gone;
    struct al_str oids; /**< the ids of new pieces, for the file */
    uint64_t bytes;     /**< of the file, as far as it was read */
};

#define AL_INDEX_PUT_INIT                                                                          \
    ((struct al_index_put){                                                                        \
        .fd = -1, .before_fd = -1, .now = AL_INDEX_PIECES_INIT, .oids = AL_STR_INIT })

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
