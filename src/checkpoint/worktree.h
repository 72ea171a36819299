// SPDX-License-Identifier: Apache-2.0
/* The files of a working tree, read into a store. */
#ifndef AL_CHECKPOINT_WORKTREE_H
#define AL_CHECKPOINT_WORKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checkpoint/file_list.h"
#include "checkpoint/objects.h"
#include "checkpoint/prefetch.h"
#include "checkpoint/stat_cache.h"
#include "checkpoint/tree.h"
#include "gitops/deadline.h"

/** The working tree.  Zero-initialised is empty. */
struct al_worktree_files {
    struct al_tree_file *files;       /**< in the order of the names */
    struct al_stat_cache_file *stats; /**< what each of them was when it was read */
    size_t count;
    struct al_strv left_out;
};

void al_worktree_files_clear(struct al_worktree_files *worktree);

/** What reading needs; borrowed. */
struct al_worktree_source {
    int top_fd;
    const char *top; /**< for messages */
    const struct al_file_list *names;
    uint64_t max_file_bytes;
    uint64_t max_store_bytes; /**< what one checkpoint may write */
    struct al_objects *objects;
    struct al_stat_cache *cache;        /**< what was seen before */
    const struct al_prefetch *prefetch; /**< what looked the same already; may be NULL */
    bool cache_is_valid; /**< what it names is in the store; else that is looked up */
    bool *changed;       /**< set when a file is not as it was seen */
    struct al_deadline *deadline;
};

/**
 * Read what is new or changed, and take the rest from what was seen.
 *
 * Everything is opened below the top, through directories that are no links, and never waits: a
 * fifo in a file's place is skipped like any other thing that is no file.
 *
 * What was read until a failure is in *ret_worktree as well; the caller clears it.
 */
int al_worktree_read(const struct al_worktree_source *source,
                     struct al_worktree_files *ret_worktree, struct al_error *err);

#endif
