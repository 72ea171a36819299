// SPDX-License-Identifier: Apache-2.0
/*
 * The directory of one working tree's private index, <state>/indexes/<id>:
 *
 *   lock          locked by the one git that may refresh the index
 *   record        what the index is a copy of, and the stat of the file itself
 *   ready/index   the index for everybody; no child can write here
 *   work/index    the same file, as long as git has not replaced it; git may write here
 *
 * A refreshed index gets to ready/index only through al_index_store_publish().  ready/index is
 * replaced but never removed while the store is open anywhere: git takes a missing index for an
 * empty one.
 *
 * Threads: a store is constant between opening and closing.  Functions that write need the lock.
 */
#ifndef AL_GITOPS_INDEX_INDEX_STORE_H
#define AL_GITOPS_INDEX_INDEX_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/index/index_source.h"
#include "util/fs.h"

/** What a store holds, as it is on disk.  Numbers are of this machine. */
struct al_index_record {
    char format[8];
    char boot[40]; /**< the boot id: after a crash of the machine a file may lack its last bytes */
    uint64_t source[5];
    uint64_t ready[5];
    uint64_t entries;
    uint64_t has_own_stats; /**< the stat data is of airlock's own git; nothing of it was claimed by
                               the repository's index */
    uint8_t config[AL_INDEX_DIGEST_BYTES];
};

struct al_index_store {
    char *dir, *work_dir;
    char *ready_index, *work_index;
    int dir_fd; /**< locked shared, so that nobody removes the store as unused */
    int lock_fd;
};

#define AL_INDEX_STORE_INIT ((struct al_index_store){ .dir_fd = -1, .lock_fd = -1 })

/** Open the store `dir`.  Without `create` a missing one is -ENOENT.  0 or -errno. */
int al_index_store_open(const char *dir, bool create, struct al_index_store *ret_store);
void al_index_store_close(struct al_index_store *store);

/** Take the lock, without waiting; false when another git refreshes the index. */
bool al_index_store_lock(const struct al_index_store *store);
void al_index_store_unlock(const struct al_index_store *store);

/** Read the record; false when there is none of this boot. */
bool al_index_store_load(const struct al_index_store *store, struct al_index_record *ret_record);

/** Test whether ready/index is the file of the record, and a copy of `source`. */
bool al_index_store_holds(const struct al_index_store *store, const struct al_index_record *record,
                          const struct al_index_source *source);

/** Test whether work/index is the file of the record, so that git may refresh it.  It is another
 * one after a kill. */
bool al_index_store_may_refresh(const struct al_index_store *store,
                                const struct al_index_record *record);

/**
 * Make the index again, as a copy of another one.
 *
 * The copy gets the time of its source.  git believes only files older than the index, so it
 * believes no more of them than it did with the source.
 *
 * The stat data of an index that is mostly stale is worth nothing, so the copy gets none.  Then,
 * and after each further change of the source, it keeps what the store knows by a git of its own.
 *
 * @param is_stale  Most of the source's stat data is not that of the files.
 * @param top  The top of the working tree; with it the store is no longer used.
 * @return 0, or as al_index_copy().
 */
int al_index_store_fill(const struct al_index_store *store, int from_fd, bool sha256, bool is_stale,
                        const struct al_index_source *source, const char *top,
                        struct al_index_record *ret_record);

/**
 * After a git that may refresh: if it replaced work/index, give that to everybody.
 *
 * The file gets a time of AL_INDEX_MARGIN_S before the start of that git.  Whatever changes after
 * git looked at it then has a time that git does not believe, even if git looked early and wrote
 * late, or if file times have no more than whole seconds.
 *
 * @param began_ns  The wall clock when git started.
 * @param record    Of what git started with; becomes that of what it wrote.
 * @return 0; -errno when the file is not one that git would have made of the record's: the store
 *         then has to be filled again.
 */
int al_index_store_publish(const struct al_index_store *store, int64_t began_ns, const char *top,
                           struct al_index_record *record);

#define AL_INDEX_MARGIN_S 2

#endif
