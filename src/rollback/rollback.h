// SPDX-License-Identifier: Apache-2.0
/*
 * Going back to before some executions.
 *
 * The present is checkpointed first, so that a rollback can be undone like anything else, and what
 * somebody else did since is not taken away unless that is asked for.  docs/ROLLBACK.md tells the
 * whole story.
 */
#ifndef AL_ROLLBACK_ROLLBACK_H
#define AL_ROLLBACK_ROLLBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checkpoint/checkpoint.h"

struct al_journal;

/** What is asked for; borrowed. */
struct al_rollback_options {
    const char *journal_file;
    struct al_journal *journal; /**< the same, open; NULL for a dry run */
    const struct al_checkpoint_settings *settings;
    const char *confinement; /**< for the journal's line */
    uint32_t lock_wait_ms;   /**< how long to wait for another git's index.lock */
    size_t count;            /**< 0: not said */
    bool force, dry_run;
    bool redo; /**< undo the last rollback; `count` is 0 then */
};

/** What came of it.  Set up with AL_ROLLBACK_INIT. */
struct al_rollback {
    size_t count;                  /**< executions that are undone */
    size_t further;                /**< how many a rollback that goes one further back has to name;
                                      0: there is none, or a dry run did not ask */
    bool resumed;                  /**< an interrupted rollback was gone on with */
    struct al_strv lost;           /**< what somebody else changed and would lose, in words */
    struct al_strv unsaved;        /**< files in the way that no checkpoint has */
    struct al_strv kept;           /**< files that stay though the checkpoint does not have them */
    struct al_differences changes; /**< from the present to what is gone back to */
    struct al_str stat;            /**< of the working tree, as safe text, when a dry run asked */
};

#define AL_ROLLBACK_INIT                                                                           \
    ((struct al_rollback){ .lost = AL_STRV_INIT,                                                   \
                           .unsaved = AL_STRV_INIT,                                                \
                           .kept = AL_STRV_INIT,                                                   \
                           .stat = AL_STR_INIT })

void al_rollback_clear(struct al_rollback *rollback);

/**
 * Do it, or say what it would do.  Whatever comes of it is recorded, but for a dry run.
 *
 * @param rollback  Filled in as far as it came, on failure too.
 * @return 0; AL_ERR_NOT_FOUND when there are not so many executions; AL_ERR_APPROVAL_REQUIRED when
 *         `lost`, or an execution that was interrupted, needs --force; AL_ERR_EXECUTION otherwise,
 *         with AL_CODE_LOCK_TIMEOUT when another git holds a lock; AL_ERR_TIMEOUT,
 *         AL_ERR_CANCELLED (nothing was changed then).
 */
int al_rollback_run(struct al_repo *repo, const struct al_rollback_options *options,
                    struct al_run_limits *budget, struct al_rollback *rollback,
                    struct al_error *err);

#endif
