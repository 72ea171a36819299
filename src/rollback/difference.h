// SPDX-License-Identifier: Apache-2.0
/* What the last executions in a repository changed, one after the other. */
#ifndef AL_ROLLBACK_DIFFERENCE_H
#define AL_ROLLBACK_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "checkpoint/checkpoint.h"

/** A patch is cut at this. */
#define AL_DIFFERENCE_MAX_BYTES (16u << 20)

/** What is asked for; borrowed. */
struct al_difference_options {
    const struct al_checkpoint_settings *settings;
    const char *journal_file;
    size_t count; /**< how many executions; 0: one */
    bool lines;   /**< the lines themselves, or how much in which file */
};

/** Where a file can be changed. */
enum al_patch_of {
    AL_PATCH_WORKTREE,
    AL_PATCH_INDEX,
    AL_PATCH_HEAD, /**< from the commit that HEAD led to, to the one it leads to now */
    AL_PATCH_COUNT,
};

/** What one execution changed; borrowed. */
struct al_execution_changes {
    uint64_t seq;
    const char *tool, *summary; /**< as the journal has them; summary may be NULL */
    bool ended;                 /**< false: others may have changed something of it as well */
    struct al_differences changes;
    struct al_str patches[AL_PATCH_COUNT]; /**< safe text; "" for what cannot be told in lines, as
                                                an index in a conflict */
};

/** Takes the executions, oldest first. */
typedef void (*al_difference_fn)(void *payload, const struct al_execution_changes *changes);

/**
 * Compare what was before each of the last executions that changed something with what was after
 * it; where that never came to its end, with what was before the next, or with the present.
 *
 * @return 0; AL_ERR_NOT_FOUND when there are not so many; AL_ERR_EXECUTION, AL_ERR_TIMEOUT,
 *         AL_ERR_CANCELLED.
 */
int al_difference_read(struct al_repo *repo, const struct al_difference_options *options,
                       struct al_run_limits *budget, al_difference_fn take, void *payload,
                       struct al_error *err);

#endif
