// SPDX-License-Identifier: Apache-2.0
/*
 * Where the entries of a large index are, so that a few of them are found without reading all.
 *
 * Whoever has read an index whole tells it.  It is remembered in memory, for the last few indexes,
 * until the file has other stat data or another checksum at its end.
 */
#ifndef AL_GITOPS_PLUMBING_INDEX_PLACES_H
#define AL_GITOPS_PLUMBING_INDEX_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "gitops/plumbing/index_scan.h"
#include "util/fs.h"
#include "util/str.h"

/** A run of entries. */
struct al_index_place {
    uint64_t offset; /**< of the first entry in the file */
    uint32_t bytes, nentries;
    uint32_t end; /**< the path of the last entry: its offset in `ends` */
};

/** All entries of an index, in its order.  Set up with AL_INDEX_PLACES_INIT. */
struct al_index_places {
    struct al_index_place *items;
    size_t count;
    uint32_t version;   /**< of the index file */
    struct al_str ends; /**< with their NULs */
};

#define AL_INDEX_PLACES_INIT ((struct al_index_places){ .ends = AL_STR_INIT })

void al_index_places_clear(struct al_index_places *places);

/** An index of fewer places is read whole, and of one of more nothing is remembered. */
#define AL_INDEX_PLACES_MIN 4u
#define AL_INDEX_PLACES_MAX 16384u

/**
 * Remember where the entries of an index are.
 *
 * @param id      The stat data of the file that was read to its end and understood.
 * @param end     The checksum at its end.  An index without one is not remembered.
 * @param places  Taken over; empty afterwards.
 * Threads: any.
 */
void al_index_places_remember(const struct al_file_id *id, const struct al_oid *end, bool sha256,
                              struct al_index_places *places);

/** With more paths the index is read whole. */
#define AL_INDEX_NEAR_MAX 64u

/**
 * Read the entries at some paths, below them and at the directories above them.  Others may be
 * given, too: all of them when it is not known where the entries are.
 *
 * @param paths  Relative to the top, without final slashes.
 * The rest is as of al_index_read().
 */
enum al_index_end
al_index_read_near(int fd, size_t oid_bytes, const struct al_strv *paths,
                   bool (*give)(void *payload, const struct al_index_entry *entry), void *payload);

#endif
