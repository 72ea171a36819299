// SPDX-License-Identifier: Apache-2.0
/*
 * The entries of an index, read from its file without git.
 *
 * Source: gitformat-index(5).
 */
#ifndef AL_GITOPS_PLUMBING_INDEX_SCAN_H
#define AL_GITOPS_PLUMBING_INDEX_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

/** The bytes at the beginning of an entry: ctime, mtime, dev, ino, mode, uid, gid, size; all
 * numbers of four bytes, the times two of them. */
#define AL_INDEX_STAT_BYTES 40

/** One entry; valid during the callback. */
struct al_index_entry {
    const char *name;               /**< relative to the top, as raw bytes */
    const unsigned char *oid;       /**< 20 bytes, or 32 */
    const unsigned char *stat_data; /**< AL_INDEX_STAT_BYTES, as in the file */
    uint32_t mode;                  /**< file mode: 0100644, 0100755, 0120000, 0160000 or 0040000 */
    unsigned stage;                 /**< 0, or a side of a conflict */
    bool skip_worktree;             /**< skip-worktree: the file need not be in the working tree */
    bool assume_unchanged;          /**< assume-unchanged: git does not look at the file */
    bool intent_to_add;             /**< intent-to-add: only the name was staged */
    uint32_t size; /**< of the file, cut to 32 bits; also 0 when git wants the content compared */
    uint32_t ino;  /**< cut to 32 bits */
    uint32_t mtime_s, mtime_ns, ctime_s, ctime_ns;
};

/** The result of reading an index. */
enum al_index_end {
    AL_INDEX_WHOLE,          /**< every entry was read */
    AL_INDEX_STOPPED,        /**< the callback wanted no more */
    AL_INDEX_SPLIT,          /**< some entries are in another file (split index) */
    AL_INDEX_SPARSE,         /**< some entries stand for directories (sparse index) */
    AL_INDEX_NOT_UNDERSTOOD, /**< the file was not understood: entries read so far are invalid */
};

/**
 * Read the entries of an index.
 *
 * @param fd         Open for reading; its offset does not matter.
 * @param oid_bytes  The length of an object id, 20 or 32; the file does not tell.
 * @param give       Gets each entry; false: no more are wanted.
 */
enum al_index_end al_index_read(int fd, size_t oid_bytes,
                                bool (*give)(void *payload, const struct al_index_entry *entry),
                                void *payload);

/** The bytes of an index before its entries. */
#define AL_INDEX_HEADER_BYTES 12

/** No entry of an index that is understood has more bytes. */
#define AL_INDEX_ENTRY_MAX_BYTES (33u * 1024)

/** Read the header of an index: its version, 2 to 4, and the number of entries.  False when it is
 * none. */
bool al_index_parse_header(const unsigned char header[AL_INDEX_HEADER_BYTES], uint32_t *ret_version,
                           uint32_t *ret_count);

/**
 * Read one entry that is in memory.
 *
 * @param name       The path of the entry before, from which version 4 continues; with version 4
 * that of this entry afterwards.  ret_entry->name may be its buffer.
 * @param ret_entry  Its pointers lead into `data` or `name`.
 * @param ret_len    The bytes of the entry.
 * @return false when there is no whole entry.
 */
bool al_index_parse_entry(const unsigned char *data, size_t len, uint32_t version, size_t oid_bytes,
                          struct al_str *name, struct al_index_entry *ret_entry, size_t *ret_len);

/** Read the extensions of an index, which begin at an offset of the file, as al_index_read() does.
 */
enum al_index_end al_index_read_extensions(int fd, int64_t from, size_t oid_bytes);

/** al_index_read() of an index that is in memory. */
enum al_index_end
al_index_read_bytes(const void *data, size_t len, size_t oid_bytes,
                    bool (*give)(void *payload, const struct al_index_entry *entry), void *payload);

#endif
