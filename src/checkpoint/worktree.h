// SPDX-License-Identifier: Apache-2.0
/* Reading the files of a working tree into a store. */
#ifndef AL_CHECKPOINT_WORKTREE_H
#define AL_CHECKPOINT_WORKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checkpoint/file_list.h"
#include "checkpoint/prefetch.h"
#include "checkpoint/stat_cache.h"
#include "gitops/deadline.h"
#include "odb/objects.h"
#include "odb/tree.h"

/** The files of a working tree.  Zero-initialised is empty. */
struct al_worktree_files {
    struct al_tree_file *files;       /**< in the order of the list */
    struct al_stat_cache_file *stats; /**< what each file was when it was read */
    size_t count;
    struct al_strv left_out;
};

void al_worktree_files_clear(struct al_worktree_files *worktree);

/** Input of al_worktree_read().  Borrowed. */
struct al_worktree_source {
    int top_fd;
    const char *top; /**< for messages */
    const struct al_file_list *names;
    uint64_t max_file_bytes;
    uint64_t max_store_bytes; /**< one checkpoint may write this much */
    struct al_objects *objects;
    struct al_stat_cache *cache;        /**< files as they were when they were last read */
    const struct al_prefetch *prefetch; /**< which of them are unchanged; may be NULL */
    /** The store has every object that the cache names.  Otherwise each one is looked up. */
    bool cache_is_valid;
    bool *changed; /**< set when a file differs from its cache entry */
    struct al_deadline *deadline;
};

/**
 * Read the files that are new or changed, and take the others from the cache.
 *
 * Files are opened below the top without following a link to a directory, and no open ever waits: a
 * fifo in place of a file is skipped.
 *
 * After a failure *ret_worktree has what was read so far.  The caller clears it in every case.
 */
int al_worktree_read(const struct al_worktree_source *source,
                     struct al_worktree_files *ret_worktree, struct al_error *err);

#endif
