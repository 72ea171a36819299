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

/** One entry.  It lasts while it is taken. */
struct al_index_entry {
    const char *name;         /**< relative to the top, bytes as they are */
    const unsigned char *oid; /**< 20 bytes, or 32 */
    uint32_t mode;            /**< as git has it: 0100644, 0100755, 0120000, 0160000, 0040000 */
    unsigned stage;           /**< 0, or a side of a conflict */
    bool skip_worktree;       /**< it need not be in the working tree (skip-worktree) */
    bool intent_to_add;       /**< nothing but its name was staged (intent-to-add) */
    uint32_t size; /**< of the file, cut to 32 bits; 0 also when git wants it looked at */
    uint32_t ino;  /**< cut to 32 bits */
    uint32_t mtime_s, mtime_ns, ctime_s, ctime_ns;
};

/** What came of reading an index. */
enum al_index_end {
    AL_INDEX_WHOLE,          /**< every entry was taken */
    AL_INDEX_STOPPED,        /**< no more of them were wanted */
    AL_INDEX_SPLIT,          /**< some of them are in another file */
    AL_INDEX_SPARSE,         /**< some of them stand for directories */
    AL_INDEX_NOT_UNDERSTOOD, /**< what was taken counts for nothing */
};

/**
 * Read the entries of an index.
 *
 * @param fd         Open for reading; the offset does not matter.
 * @param oid_bytes  How long its ids are: nothing in the file says so.
 * @param give       Gets each entry; false: no more are wanted.
 */
enum al_index_end al_index_read(int fd, size_t oid_bytes,
                                bool (*give)(void *payload, const struct al_index_entry *entry),
                                void *payload);

#include "gitops/location.h"

/**
 * Whether the index may have a gitlink, or entries that are not in this file.  False only for an
 * index that was understood to its end, and where there is none.
 */
bool al_index_may_have_gitlinks(const char *path);

/** True when the index holds a gitlink (or might: a wrong yes costs only exec-once). */
bool al_repo_may_have_gitlinks(const struct al_location *at);

#endif
