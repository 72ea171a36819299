// SPDX-License-Identifier: Apache-2.0
/* The changes that each of the last executions in a repository made. */
#ifndef AL_HISTORY_ROLLBACK_DIFFERENCE_H
#define AL_HISTORY_ROLLBACK_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/checkpoint.h"

/** A longer patch is cut. */
#define AL_DIFFERENCE_MAX_BYTES (16u << 20)

/** Options of a comparison.  Borrowed. */
struct al_difference_options {
    const struct al_checkpoint_settings *settings;
    const char *journal_file;
    const char *agent;  /**< only executions of this agent; NULL: of anybody */
    size_t count;       /**< how many executions; 0 means one */
    uint64_t execution; /**< only the one with this number in the journal; 0: the last `count` */
    bool lines;         /**< patches with lines; else only how much changed in which file */
};

/** The three places of a repository in which a file can be changed. */
enum al_patch_of {
    AL_PATCH_WORKTREE,
    AL_PATCH_INDEX,
    AL_PATCH_HEAD, /**< from the commit that HEAD was at to the one it is at now */
    AL_PATCH_COUNT,
};

/** The changes of one execution.  Borrowed. */
struct al_execution_changes {
    uint64_t seq;
    const char *tool, *summary; /**< as the journal has them; `summary` may be NULL */
    /** False: the execution was interrupted, so other programs may have made some of the changes.
     */
    bool ended;
    struct al_differences changes;
    /** Safe text.  "" when no patch can be shown, as for an index with conflicts. */
    struct al_str patches[AL_PATCH_COUNT];
};

/** Receives the executions, oldest first. */
typedef void (*al_difference_fn)(void *payload, const struct al_execution_changes *changes);

/**
 * Compare the checkpoints before and after each of the last executions that changed something.  An
 * execution that was interrupted is compared with the checkpoint before the next one, or with the
 * present.
 *
 * @return 0; AL_ERR_NOT_FOUND when there are not so many; AL_ERR_EXECUTION, AL_ERR_TIMEOUT,
 *         AL_ERR_CANCELLED.
 */
int al_difference_read(struct al_repo *repo, const struct al_difference_options *options,
                       struct al_run_limits *budget, al_difference_fn take, void *payload,
                       struct al_error *err);

#endif
