// SPDX-License-Identifier: Apache-2.0
/*
 * What files were when they were last read: the file `stat` of a store.
 *
 * A file whose stat is the same still has the same content, as git believes of its index.  The one
 * exception is git's too: a file that changed shortly before it was read could change once more
 * without a new time, so such an entry does not count.
 *
 * The file is for this machine alone, and can be lost at any time.
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

/** A file as it was read. */
struct al_stat_cache_file {
    struct al_file_id id;
    uint32_t mode; /* st_mode */
    bool racy;     /* read so shortly after its last change that it must be read again */
    struct al_oid oid;
};

/** What else there was. */
struct al_stat_cache_head {
    char reference[96]; /* of the checkpoint all this is from; what it holds is in the store */
    struct al_stat_cache_file index; /* .exists false: none; oid is the tree of its pieces */
    struct al_oid entries;           /* digest of its entries, SHA-256 */
    struct al_oid tips;              /* digest of the references' values, SHA-256 */
    struct al_oid root;              /* the checkpoint's tree */
};

/** What was seen, read in order of paths.  Zero-initialised is nothing. */
struct al_stat_cache {
    struct al_str data;
    struct al_stat_cache_head head;
    size_t nknown, nfiles; /* objects known to be in the store; files */
    size_t next, left;     /* where in `data` the next file is, and how many are left */
};

#define AL_STAT_CACHE_INIT ((struct al_stat_cache){ .data = AL_STR_INIT })

/** Read it; nothing when there is none, or none that can be used. */
void al_stat_cache_load(struct al_stat_cache *cache, int dir_fd, bool sha256);
void al_stat_cache_clear(struct al_stat_cache *cache);

/** Another object that was known. */
void al_stat_cache_known(const struct al_stat_cache *cache, size_t i, struct al_oid *ret_oid);

/** The next file; its path is borrowed.  NULL at the end. */
const char *al_stat_cache_next(struct al_stat_cache *cache, struct al_stat_cache_file *ret_file);

/** What was seen of a path, and as which number; false when nothing was.  Paths are asked for in
 * order. */
bool al_stat_cache_find(struct al_stat_cache *cache, const char *path,
                        struct al_stat_cache_file *ret_file, size_t *ret_number);

/** True when a file that looks like `st` now is as it was seen. */
bool al_stat_cache_is_current(const struct al_stat_cache_file *file, const struct stat *st);

/** A file that is about to be read: what is noted of it.  `began_ns` is the time (realtime) before
 * `st` was taken. */
void al_stat_cache_fill(struct al_stat_cache_file *file, const struct stat *st, int64_t began_ns);

/** The time that al_stat_cache_note() wants. */
int64_t al_stat_cache_now_ns(void);

/** Writing the next one: objects first, then files in order. */
struct al_stat_cache_writer {
    struct al_str known, files;
    size_t nknown, nfiles;
};

#define AL_STAT_CACHE_WRITER_INIT                                                                  \
    ((struct al_stat_cache_writer){ .known = AL_STR_INIT, .files = AL_STR_INIT })

void al_stat_cache_writer_clear(struct al_stat_cache_writer *writer);
/** Append one. */
void al_stat_cache_write_known(struct al_stat_cache_writer *writer, const struct al_oid *oid);
void al_stat_cache_write_file(struct al_stat_cache_writer *writer, const char *path,
                              const struct al_stat_cache_file *file);

/** Put it in place.  0 or -errno. */
int al_stat_cache_save(const struct al_stat_cache_writer *writer,
                       const struct al_stat_cache_head *head, int dir_fd, bool sha256);

#endif
