// SPDX-License-Identifier: Apache-2.0
/*
 * Going back to before some executions.
 *
 * The present is checkpointed first, so that a rollback can be undone like any other execution.  If
 * other changes since then would be lost, the rollback stops unless it is forced.  A dry run, or a
 * rollback that is refused, leaves no checkpoint.  docs/ROLLBACK.md
 * has the details.
 */
#ifndef AL_HISTORY_ROLLBACK_H
#define AL_HISTORY_ROLLBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/checkpoint.h"

struct al_journal;

/** The executions to roll back, and the means.  Borrowed. */
struct al_rollback_options {
    const char *journal_file;   /**< NULL: that of `journal` */
    struct al_journal *journal; /**< the open journal; NULL for a dry run with a file */
    const struct al_checkpoint_settings *settings;
    const char *confinement; /**< for the record in the journal */
    uint32_t lock_wait_ms;   /**< how long to wait while another git holds index.lock */
    size_t count;            /**< executions to undo; 0 when the user gave no number */
    uint64_t execution;      /**< go back to before this one, instead of `count`; 0: none */
    uint64_t newest;         /**< with `execution`: refuse if a later one than this came; 0: any */
    const char *agent;       /**< undo only executions of this agent; NULL: of anybody */
    /** Undo only what this session, that of `journal`, has done.  `count` then counts its calls
     * that are not undone already, so a second rollback goes further back. */
    bool own_session;
    uint64_t session; /**< with `own_session`: its number, as for al_journal_conversation() */
    bool force, dry_run;
    bool redo; /**< undo the last rollback; `count` is 0 then */
};

/** The result.  Set up with AL_ROLLBACK_INIT. */
struct al_rollback {
    size_t count; /**< executions that are undone */
    /** The count for a rollback that goes one execution further back.  0: there is none, or this
     * was a dry run. */
    size_t further;
    bool resumed; /**< it continued a rollback that was interrupted */
    /** Changes in words that no execution made and that would be lost. */
    struct al_strv lost;
    /** Files whose staged change was committed since, so going back would stage the opposite. */
    struct al_strv committed;
    struct al_strv unsaved; /**< files in the way that no checkpoint has */
    /** Files that stay although the checkpoint does not have them. */
    struct al_strv kept;
    struct al_differences changes; /**< from the present to the checkpoint */
    struct al_strv calls;  /**< the executions that are undone, newest first, as "git_add: Stage
                              a.c"; none for a redo or a rollback that is continued */
    struct al_strv pushes; /**< of this session, among them, in the same way: an undo leaves what
                              was pushed, and what is known of the remote */
    struct al_str stat;    /**< of the working tree, as safe text; only for a dry run */
};

#define AL_ROLLBACK_INIT                                                                           \
    ((struct al_rollback){ .lost = AL_STRV_INIT,                                                   \
                           .committed = AL_STRV_INIT,                                              \
                           .unsaved = AL_STRV_INIT,                                                \
                           .kept = AL_STRV_INIT,                                                   \
                           .calls = AL_STRV_INIT,                                                  \
                           .pushes = AL_STRV_INIT,                                                 \
                           .stat = AL_STR_INIT })

void al_rollback_clear(struct al_rollback *rollback);

/**
 * Roll back, or say what a rollback would do.  The journal records every run except a dry run.
 *
 * @param rollback  Filled in as far as possible, on failure too.
 * @return 0; AL_ERR_NOT_FOUND when there are not so many executions; AL_ERR_APPROVAL_REQUIRED when
 *         `lost`, `committed`, or an execution that was interrupted, needs --force;
 * AL_ERR_EXECUTION otherwise, with AL_CODE_LOCK_TIMEOUT when another git holds a lock;
 * AL_ERR_TIMEOUT, AL_ERR_CANCELLED, both without any change to the repository.
 */
int al_rollback_run(struct al_repo *repo, const struct al_rollback_options *options,
                    struct al_run_limits *budget, struct al_rollback *rollback,
                    struct al_error *err);

#endif
