// SPDX-License-Identifier: Apache-2.0
/*
 * The stat data of each file when the last checkpoint read it: the file `stat` of a store.
 *
 * A file whose stat data is unchanged is taken to have the same content, as git does with its
 * index.  The exception is git's racy entry: a file that changed just before it was read could
 * change again within the same tick of its times.  Such an entry is never current.
 *
 * The file is for one machine and can be deleted at any time.
 *
 * Source: gitformat-index(5), and Documentation/technical/racy-git in git.
 */
#ifndef AL_CHECKPOINT_STAT_CACHE_H
#define AL_CHECKPOINT_STAT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "gitops/oid.h"
#include "util/fs.h"
#include "util/str.h"

/** One file as it was read. */
struct al_stat_cache_file {
    struct al_file_id id;
    uint32_t mode; /* st_mode */
    bool racy;     /* it was read so soon after its last change that it must be read again */
    struct al_oid oid;
};

/** The entries of the cache that are no files. */
struct al_stat_cache_head {
    /* The reference of the checkpoint that this cache belongs to.  While it exists, the store has
     * every object that the cache names. */
    char reference[96];
    /* The index file; .exists is false when there is none.  Its oid is the tree of its pieces. */
    struct al_stat_cache_file index;
    struct al_oid entries; /* SHA-256 digest of the index entries */
    struct al_oid root;    /* the checkpoint's tree */
};

/** A cache that is read in the order of its paths.  Zero-initialised is empty. */
struct al_stat_cache {
    struct al_str data;
    struct al_stat_cache_head head;
    size_t nknown, nfiles; /* numbers of known objects and of files */
    size_t next, left;     /* offset in `data` of the next file, and the number of files left */
};

#define AL_STAT_CACHE_INIT ((struct al_stat_cache){ .data = AL_STR_INIT })

/** Read the cache.  It is empty when there is none or when it cannot be used. */
void al_stat_cache_load(struct al_stat_cache *cache, int dir_fd, bool sha256);
void al_stat_cache_clear(struct al_stat_cache *cache);

/** Test whether the file has the checksum that it was written with, so that no part of it was lost
 * in a power failure.  False when there is none. */
bool al_stat_cache_is_whole(int dir_fd, bool sha256);

/** Get known object number `i`: one that is in the store. */
void al_stat_cache_known(const struct al_stat_cache *cache, size_t i, struct al_oid *ret_oid);

/** The next file; its path is borrowed.  NULL at the end. */
const char *al_stat_cache_next(struct al_stat_cache *cache, struct al_stat_cache_file *ret_file);

/** Find a path and its number in the cache.  False when it is not there.  Paths must be looked up
 * in order. */
bool al_stat_cache_find(struct al_stat_cache *cache, const char *path,
                        struct al_stat_cache_file *ret_file, size_t *ret_number);

/** Test whether a file whose stat data is `st` is as it was when it was read. */
bool al_stat_cache_is_current(const struct al_stat_cache_file *file, const struct stat *st);

/**
 * Fill an entry in for a file that is about to be read.
 *
 * @param began_ns  al_stat_cache_now_ns() before `st` was taken.
 */
void al_stat_cache_fill(struct al_stat_cache_file *file, const struct stat *st, int64_t began_ns);

/** A sum that finds parts of a file that were lost.  It takes a tenth of the time that writing
 * takes. */
uint32_t al_stat_cache_sum(const char *data, size_t len);

/** The realtime clock, for al_stat_cache_fill(). */
int64_t al_stat_cache_now_ns(void);

/** A cache that is being written: known objects first, then files in order. */
struct al_stat_cache_writer {
    struct al_str known, files;
    size_t nknown, nfiles;
};

#define AL_STAT_CACHE_WRITER_INIT                                                                  \
    ((struct al_stat_cache_writer){ .known = AL_STR_INIT, .files = AL_STR_INIT })

void al_stat_cache_writer_clear(struct al_stat_cache_writer *writer);
/** Append a known object or a file. */
void al_stat_cache_write_known(struct al_stat_cache_writer *writer, const struct al_oid *oid);
void al_stat_cache_write_file(struct al_stat_cache_writer *writer, const char *path,
                              const struct al_stat_cache_file *file);

/** Replace the cache file.  0 or -errno. */
int al_stat_cache_save(const struct al_stat_cache_writer *writer,
                       const struct al_stat_cache_head *head, int dir_fd, bool sha256);

#endif
