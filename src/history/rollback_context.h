// SPDX-License-Identifier: Apache-2.0
/*
 * The state and the locks of one rollback while it runs.
 *
 *   lock                     held for                  by
 *
 *   rollback.lock (flock)    every run                 so that at most one rollback runs in a store
 *   airlock's write lock     every run but a dry run   so that airlock's other writers wait
 *   index.lock               every run but a dry run   so that git's writers wait
 *
 * Since only one rollback runs at a time, a lock with a rollback's token was left by one that was
 * killed.
 */
#ifndef AL_HISTORY_ROLLBACK_CONTEXT_H
#define AL_HISTORY_ROLLBACK_CONTEXT_H

#include <stdbool.h>

#include "history/journal.h"
#include "history/rollback.h"
#include "history/rollback_executions.h"
#include "history/rollback_linked.h"
#include "history/rollback_lockfile.h"
#include "history/rollback_plan.h"
#include "history/rollback_touched.h"
#include "history/store.h"

/** Everything that one rollback holds. */
struct al_rollback_context {
    const struct al_rollback_options *options;
    struct al_repo *repo;
    struct al_run_limits *budget;
    /* The limits while the repository is changed.  Only SIGKILL stops it then. */
    struct al_run_limits apply_limits;
    struct al_rollback *report;

    struct al_recorded recorded;
    int lock_fd; /* rollback.lock in the store */
    struct al_lockfile index_lock;
    bool adopted; /* index_lock is one that a killed rollback left */
    /* No rollback left the repository half changed, or this one has begun to restore it. */
    bool is_consistent;
    char token[AL_LOCK_TOKEN];
    char leftover[AL_LOCK_TOKEN]; /* token of a rollback that was killed; else "" */
    int top_fd, git_fd, common_fd;

    struct al_store *store;
    struct al_executions executions;
    struct al_plan plan;
    struct al_touched touched;
    unsigned without;            /* the parts that the checkpoints of this rollback do not have */
    struct al_strv linked_names; /* of worktrees that the executions touched */
    struct al_linked_changes linked;
    struct al_way_back way; /* its changes move to the report */
    struct al_saved_state from, to;
    char present[AL_OID_TEXT];
    struct al_pending_checkpoint *pending; /* the checkpoint `present` */
};

/** Open the directories, lock the store, and lock the repository unless this is a dry run. */
int al_rollback_lock(struct al_rollback_context *ctx, struct al_error *err);

/** Remove the locks and temporary files that a killed rollback left. */
void al_rollback_remove_leftovers(const struct al_rollback_context *ctx);

/** Release the locks and close the directories.  An adopted index.lock stays as long as the
 * repository is half changed. */
void al_rollback_unlock(struct al_rollback_context *ctx);

#endif
