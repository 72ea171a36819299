// SPDX-License-Identifier: Apache-2.0
/*
 * Putting a checkpoint in place of what is there.
 *
 * Only what differs is touched.  Objects that references and the index need come first, references
 * are moved next, all or none, and the index is last; whoever finds a repository in which this was
 * cut short can do the rest from the same checkpoint.
 *
 * What is in no checkpoint is never overwritten or removed: ignored files, and files that were too
 * large to be kept.
 */
#ifndef AL_ROLLBACK_RESTORE_H
#define AL_ROLLBACK_RESTORE_H

#include <stdbool.h>

#include "checkpoint/checkpoint.h"
#include "rollback/atomic_file.h"
#include "rollback/lockfile.h"

/** What to restore, and where.  Borrowed. */
struct al_restore {
    struct al_store *store;
    struct al_repo *repo;
    const char *present, *target; /**< the checkpoints */
    const struct al_differences *changes;
    struct al_saved_state *from, *to; /**< of present and target */
    const char *token;                /**< of this rollback */
    struct al_run_limits *budget;
    int top_fd, git_fd, common_fd;
};

/**
 * Look for what would be lost although no checkpoint has it.  Names of files are appended to
 * `ret_unsaved`.
 */
void al_restore_check(const struct al_restore *restore, struct al_strv *ret_unsaved);

/**
 * Do it.  `index.lock` is ours.
 *
 * @param ret_kept  Files that the checkpoint does not have and that stay, since they are ignored or
 *                  were too large to be in it.
 */
int al_restore_apply(const struct al_restore *restore, struct al_strv *ret_kept,
                     struct al_error *err);

/** objects.c's counterpart: store in the repository what references, index and unfinished
 * operations of the target need and the repository has lost. */
int al_restore_objects(const struct al_restore *restore, const char *index_path,
                       struct al_error *err);

#endif
