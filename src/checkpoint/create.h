// SPDX-License-Identifier: Apache-2.0
/* A checkpoint while it is written, and the steps that have files of their own. */
#ifndef AL_CHECKPOINT_CREATE_H
#define AL_CHECKPOINT_CREATE_H

#include <stdbool.h>

#include "checkpoint/collect.h"
#include "checkpoint/gitdir.h"
#include "checkpoint/index_cache.h"
#include "checkpoint/linked.h"
#include "checkpoint/prefetch.h"
#include "checkpoint/refs.h"
#include "checkpoint/stat_cache.h"
#include "checkpoint/store.h"
#include "checkpoint/worktree.h"
#include "gitops/deadline.h"
#include "odb/objects.h"
#include "odb/pieces.h"
#include "odb/tree.h"

/** A checkpoint while it is written. */
struct al_checkpoint_writer {
    struct al_store *store;
    const struct al_checkpoint_reason *reason;
    const struct al_linked *linked; /* the worktrees of the reason; NULL: none */
    unsigned without;               /* enum al_checkpoint_parts */
    /* The index or the files cannot be read without git, so that the next attempt keeps the whole
     * tree. */
    bool needs_all;
    struct al_deadline *deadline;
    int top_fd, git_fd, common_fd;
    struct al_objects objects;
    struct al_stat_cache cache;
    /* Stats the cached files in a thread; NULL when there are too few of them. */
    struct al_prefetch *prefetch;
    bool cache_is_valid; /* the store has every object that the cache names */
    struct al_stat_cache_writer new_cache;
    struct al_stat_cache_head new_head; /* what the next cache will say */
    bool changed;                       /* the new cache differs from the old one */
    struct al_index_cache index_cache;  /* of a checkpoint without the working tree */
    struct al_collected_files collected;
    struct al_worktree_files worktree;
    struct al_refs refs;
    struct al_gitdir_files gitdir;
    struct al_oid root, commit; /* the checkpoint's tree, and the checkpoint */
    struct al_error *err;
};

#define AL_CHECKPOINT_WRITER_INIT                                                                  \
    ((struct al_checkpoint_writer){ .top_fd = -1,                                                  \
                                    .git_fd = -1,                                                  \
                                    .common_fd = -1,                                               \
                                    .objects = { .used = AL_STR_INIT },                            \
                                    .cache = AL_STAT_CACHE_INIT,                                   \
                                    .new_cache = AL_STAT_CACHE_WRITER_INIT,                        \
                                    .index_cache = AL_INDEX_CACHE_INIT,                            \
                                    .collected = AL_COLLECTED_FILES_INIT })

void al_checkpoint_writer_clear(struct al_checkpoint_writer *writer);

/**
 * create.c: read the repository, again if it changes meanwhile, and write the objects.
 *
 * @param linked         From al_linked_read(), for this reason.
 * @param quarantine_fd  As in al_objects_init().
 * @return As al_checkpoint_create(), before al_checkpoint_result().
 * Ownership: the caller clears `writer` in every case.  It borrows all arguments.
 */
int al_checkpoint_write(struct al_checkpoint_writer *writer, struct al_store *store,
                        const struct al_checkpoint_reason *reason, const struct al_linked *linked,
                        int quarantine_fd, struct al_deadline *deadline, struct al_error *err);

/** publish.c: pack what the repository that was read has lost or is about to lose, then write the
 * checkpoint, its reference and the stat cache.  Objects of a quarantine are in the store by now.
 */
int al_checkpoint_publish(struct al_checkpoint_writer *writer, const struct al_strv *dropping);

/** publish.c: write the stat cache for a checkpoint with this reference.  It only saves time:
 * without it the next checkpoint reads more. */
void al_checkpoint_save_cache(struct al_checkpoint_writer *writer, const char *reference);

/** create.c: the status and the message that callers outside of this folder get. */
int al_checkpoint_result(int r, struct al_error *err);

/** The entries of a checkpoint's tree, in git's order.  An entry with a zero id is left out. */
struct al_checkpoint_trees {
    struct al_oid about, index, left_out, modes, paths, refs, staged, state, worktree;
};

/** create_parts.c: write the index file in pieces, unless the cache says that it is unchanged. */
int al_create_index(struct al_checkpoint_writer *writer, struct al_oid *ret_tree);

/** create_staged.c: write the objects that the index has and no file of the working tree has.  They
 * are copied from the repository if the store lacks them. */
int al_create_staged(struct al_checkpoint_writer *writer, struct al_oid *ret_tree);

/** create_staged.c: write a tree of these objects, which `ids` has sorted and without duplicates
 * afterwards.  A zero id when there are none. */
int al_create_objects(struct al_checkpoint_writer *writer, struct al_oids *ids,
                      struct al_oid *ret_tree);

/** create_index.c: write the index file in pieces, the files that the execution can change, and the
 * objects of the index's entries, for a checkpoint without the working tree.  git is not asked.
 * AL_ERR_AGAIN with `needs_all` for an index that only git can read, and as al_create_files(). */
int al_create_index_alone(struct al_checkpoint_writer *writer, struct al_checkpoint_trees *trees);

/** create_files.c: write some files of the working tree.  AL_ERR_AGAIN with `needs_all` when
 * something else than a file is in a place of theirs. */
int al_create_files(struct al_checkpoint_writer *writer, const struct al_strv *names,
                    struct al_checkpoint_trees *trees);

/** create_files.c: AL_ERR_AGAIN with `needs_all`, for files that are not alone in their places or
 * marked in the index. */
int al_create_needs_all(struct al_checkpoint_writer *writer);

/** create_parts.c: write the files of the git directory. */
int al_create_state(struct al_checkpoint_writer *writer, struct al_oid *ret_tree);

/** find_missing.c: find the files that the operation may overwrite and that this checkpoint does
 * not have. */
int al_create_find_missing(struct al_checkpoint_writer *writer, struct al_strv *ret_missing);

/** create_parts.c: write the permissions, the files left out, and the lines about the checkpoint.
 */
int al_create_about(struct al_checkpoint_writer *writer, struct al_checkpoint_trees *trees);

#endif
