// SPDX-License-Identifier: Apache-2.0
/* What a process knows of the working trees that it read: the store of each one's private index,
 * and whether a copy of an index is worth its while. */
#ifndef AL_GITOPS_INDEX_KNOWN_TREES_H
#define AL_GITOPS_INDEX_KNOWN_TREES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/index/index_store.h"
#include "gitops/index/mounts.h"

struct al_git;
struct al_held_ruleset;
struct al_location;

/** The most working trees that a process knows at a time. */
#define AL_KNOWN_TREES_MAX 16u

/** A working tree.  The lock of the table guards it, except that only the caller that has taken it
 * changes `store`, `judged` and `unfit`; `store` does not change once it is open. */
struct al_known_tree {
    struct al_known_tree *next; /* most recently used first; private */
    char *git_dir, *top;
    unsigned users; /* private */
    bool is_taken;  /**< a call refreshes the index, or makes it */
    bool is_lost;   /**< the store is not as it should be: the next call begins anew */

    uint64_t mounts;          /* the serial with which `times` was found out; private */
    enum al_file_times times; /* private */

    bool is_open;
    struct al_index_store store;
    struct al_index_record record;   /**< of the store when it was last looked at */
    struct al_held_ruleset *ruleset; /* guarded by the al_git's lock */

    struct al_file_id judged; /**< an index that is not worth a copy when it is read once */
    struct al_file_id unfit;  /**< an index that cannot be copied */
};

struct al_private_indexes {
    pthread_mutex_t lock;
    struct al_known_tree *first;
    size_t count;
    bool has_tidied; /**< unused stores were looked for */
};

/** The trees of a git layer.  They are freed with it. */
struct al_private_indexes *al_known_trees(struct al_git *git);

/** The tree of a location, with one more user.  `ret_times` tells what the file times below its top
 * are good for; AL_TIMES_UNKNOWN also if anything is mounted there.  Takes the lock. */
struct al_known_tree *al_known_tree_get(struct al_private_indexes *all,
                                        const struct al_location *at,
                                        enum al_file_times *ret_times);

/** With the lock held: one user less. */
void al_known_tree_put(struct al_git *git, struct al_private_indexes *all,
                       struct al_known_tree *tree);

#endif
