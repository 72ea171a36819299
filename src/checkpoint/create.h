// SPDX-License-Identifier: Apache-2.0
/* A checkpoint on its way, and the parts of it that have files of their own. */
#ifndef AL_CHECKPOINT_CREATE_H
#define AL_CHECKPOINT_CREATE_H

#include <stdbool.h>

#include "checkpoint/collect.h"
#include "checkpoint/gitdir.h"
#include "checkpoint/objects.h"
#include "checkpoint/prefetch.h"
#include "checkpoint/refs.h"
#include "checkpoint/stat_cache.h"
#include "checkpoint/store.h"
#include "checkpoint/tree.h"
#include "checkpoint/worktree.h"
#include "gitops/deadline.h"

/** Released, and its parts with it, by take.c. */
struct al_checkpoint_writer {
    struct al_store *store;
    const struct al_checkpoint_reason *reason;
    struct al_deadline *deadline;
    int top_fd, git_fd, common_fd;
    struct al_objects objects;
    struct al_stat_cache cache;
    struct al_prefetch *prefetch; /* it looks at what was seen; NULL where that is little */
    bool cache_is_valid;          /* what was seen is in the store */
    struct al_stat_cache_writer new_cache;
    struct al_stat_cache_head new_head; /* what will have been seen */
    bool changed;                       /* it says something new */
    struct al_collected_files collected;
    struct al_worktree_files worktree;
    struct al_refs refs;
    struct al_gitdir_files gitdir;
    struct al_error *err;
};

/** The parts of the checkpoint's tree, in git's order; none where the id is none. */
struct al_checkpoint_parts {
    struct al_oid about, index, left_out, modes, refs, staged, state, worktree;
};

/** parts.c: the index file, in pieces, unless it is as it was seen. */
int al_create_index(struct al_checkpoint_writer *writer, struct al_oid *ret_tree);

/** parts.c: objects of the index that no file of the working tree stands for, copied where the
 * store does not have them. */
int al_create_staged(struct al_checkpoint_writer *writer, struct al_oid *ret_tree);

/** parts.c: the files of the git directory. */
int al_create_state(struct al_checkpoint_writer *writer, struct al_oid *ret_tree);

/** covers.c: the files that the operation may write over and that this checkpoint does not have. */
int al_create_find_missing(struct al_checkpoint_writer *writer, struct al_strv *ret_missing);

/** parts.c: permissions and other lines about the checkpoint. */
int al_create_about(struct al_checkpoint_writer *writer, struct al_checkpoint_parts *parts);

#endif
