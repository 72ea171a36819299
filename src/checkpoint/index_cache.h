// SPDX-License-Identifier: Apache-2.0
/*
 * The index as the last checkpoint without a working tree had it: the file `index` of a store.
 *
 * Such a checkpoint is taken without git.  The cache tells which pieces of the index and which
 * objects of its entries are in the store already, so that a checkpoint costs what changed in the
 * index.
 *
 * The file is for one machine and can be deleted at any time.
 */
#ifndef AL_CHECKPOINT_INDEX_CACHE_H
#define AL_CHECKPOINT_INDEX_CACHE_H

#include <stdbool.h>

#include "checkpoint/index_pieces.h"
#include "checkpoint/stat_cache.h"

/** The index of one checkpoint.  Zero-initialised is empty. */
struct al_index_cache {
    /** The reference of the checkpoint; "" for none.  While it exists, the store has the trees
     * below and every object of the entries that the repository had. */
    char reference[96];
    struct al_stat_cache_file index; /**< the index file; its oid is the tree of its pieces */
    struct al_oid end;               /**< the checksum that the index file ends with; may be zero */
    struct al_oid staged;            /**< the tree of the entries' objects; may be zero */
    uint32_t depth;                  /**< how many trees lie in each other there */
    unsigned flags;                  /**< of the pieces: enum al_index_piece_flags */
    struct al_index_pieces pieces;
    /** The file, open for reading: it has the ids of the entries' objects.  Or -1. */
    int fd;
    uint64_t room;      /**< the bytes that the file has for everything else */
    uint64_t oids_at;   /**< how many bytes of ids follow */
    struct al_str oids; /**< ids of new pieces, which are not in the file yet */
};

#define AL_INDEX_CACHE_INIT                                                                        \
    ((struct al_index_cache){                                                                      \
        .reference = "", .pieces = AL_INDEX_PIECES_INIT, .fd = -1, .oids = AL_STR_INIT })

void al_index_cache_clear(struct al_index_cache *cache);

/** Read the cache.  It is empty when there is none or when it cannot be used. */
void al_index_cache_load(struct al_index_cache *cache, int dir_fd, bool sha256);

/**
 * Test whether the index is the one that was read.
 *
 * An index that was read at once after git wrote it has file times that a later change may have,
 * too.  Such a change is noticed by the checksum at the end of the file.
 *
 * @param fd  The index that `st` is of.
 */
bool al_index_cache_is_current(const struct al_index_cache *cache, int fd, const struct stat *st,
                               bool sha256);

/** Read the checksum that an index file ends with.  Zero when it has none (index.skipHash). */
bool al_index_cache_read_end(int fd, const struct stat *st, bool sha256, struct al_oid *ret_end);

/**
 * Write the cache.  The file is changed in place, and new ids are appended to it, so that a change
 * costs what changed.  With cache->room of 0 it begins anew.  Sums find a write that was cut short.
 *
 * @return 0 or -errno; then there is no cache.
 */
int al_index_cache_save(const struct al_index_cache *cache, int dir_fd, bool sha256);

#endif
