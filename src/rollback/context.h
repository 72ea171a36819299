// SPDX-License-Identifier: Apache-2.0
/* What one rollback holds while it runs, and its locks. */
#ifndef AL_ROLLBACK_CONTEXT_H
#define AL_ROLLBACK_CONTEXT_H

#include <stdbool.h>

#include "checkpoint/store.h"
#include "journal/recorded.h"
#include "rollback/executions.h"
#include "rollback/lockfile.h"
#include "rollback/plan.h"
#include "rollback/rollback.h"

/** Everything a rollback holds while it runs. */
struct al_rollback_context {
    const struct al_rollback_options *options;
    struct al_repo *repo;
    struct al_run_limits *budget;
    struct al_run_limits apply_limits; /* of what nothing but SIGKILL stops */
    struct al_rollback *report;

    struct al_recorded recorded;
    int lock_fd; /* locked: one rollback at a time, so that what a killed one left can be told */
    struct al_lockfile index_lock;
    bool adopted;       /* it is the one a killed rollback left */
    bool is_consistent; /* no rollback left the repository half done, or this one took over */
    char token[AL_LOCK_TOKEN];
    char leftover[AL_LOCK_TOKEN]; /* token of one that was killed; "" */
    int top_fd, git_fd, common_fd;

    struct al_store *store;
    struct al_executions executions;
    struct al_plan plan;
    struct al_saved_state from, to;
    char present[AL_OID_TEXT];
};

/** Open the directories and lock the store, and the repository unless it is a dry run. */
int al_rollback_lock(struct al_rollback_context *ctx, struct al_error *err);

/** Remove the locks and temporary files that a killed rollback left. */
void al_rollback_remove_leftovers(const struct al_rollback_context *ctx);

/** Release the locks and close the directories. */
void al_rollback_unlock(struct al_rollback_context *ctx);

#endif
