// SPDX-License-Identifier: Apache-2.0
/*
 * Replacing what differs in the present by what checkpoints have.
 *
 * It is done in this order:
 *
 *   1. objects     that references and the index of the checkpoint need; the shared parts of a
 * split index, which stay in any case
 *   2. references  all or none
 *   3. HEAD, the working tree, the state of operations and the configuration
 *   4. the index
 *
 * A rollback that was interrupted at any point can be completed from the same checkpoints.
 *
 * Files that no checkpoint has are never overwritten or removed: ignored files and files that were
 * too large.
 */
#ifndef AL_HISTORY_ROLLBACK_RESTORE_H
#define AL_HISTORY_ROLLBACK_RESTORE_H

#include <stdbool.h>

#include "history/checkpoint.h"
#include "history/rollback_atomic_file.h"
#include "history/rollback_lockfile.h"

struct al_linked_changes;

/** A restore: the checkpoints and the repository.  Borrowed. */
struct al_restore {
    struct al_store *store;
    struct al_repo *repo;
    const struct al_differences *changes;
    struct al_saved_state *from, *to; /**< the state of the present, and the target */
    /** Linked worktrees that come back or go; NULL: none. */
    const struct al_linked_changes *linked;
    bool keeps_index;  /**< the index stays as it is */
    const char *token; /**< of this rollback */
    struct al_run_limits *budget;
    int top_fd, git_fd, common_fd;
};

/** Find the files that would be overwritten although no checkpoint has them.  Their names are
 * appended to `ret_unsaved`. */
void al_restore_check(const struct al_restore *restore, struct al_strv *ret_unsaved);

/**
 * Restore the target.  The caller holds `index.lock`.
 *
 * @param ret_kept  Files that the target does not have and that stay, since they are ignored or
 *                  were too large to be in it.
 */
int al_restore_apply(const struct al_restore *restore, struct al_strv *ret_kept,
                     struct al_error *err);

/** restore_objects.c: write the objects into the repository that the target's references, index and
 * unfinished operations need and that the repository has lost. */
int al_restore_objects(const struct al_restore *restore, const char *index_path,
                       struct al_error *err);

#endif
