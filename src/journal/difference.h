// SPDX-License-Identifier: Apache-2.0
/* What the last executions in a repository changed. */
#ifndef AL_JOURNAL_DIFFERENCE_H
#define AL_JOURNAL_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "journal/checkpoint.h"

/** A difference is cut at this. */
#define AL_DIFFERENCE_MAX_BYTES (16u << 20)

/** What is asked for; borrowed. */
struct al_difference_options {
    const struct al_checkpoint_settings *settings;
    const char *journal_file;
    size_t count; /**< how many executions; 0: one */
    bool lines;   /**< the lines themselves, or how much in which file */
};

/**
 * Compare what was before the oldest of the last executions with what was after the newest; where
 * that never came to its end, with the present.
 *
 * @param ret_differences  The caller clears them.
 * @param ret_text         Of the working tree, as safe text.
 * @return 0; AL_ERR_NOT_FOUND when there are not so many; AL_ERR_EXECUTION, AL_ERR_TIMEOUT,
 *         AL_ERR_CANCELLED.
 */
int al_difference_read(struct al_repo *repo, const struct al_difference_options *options,
                       struct al_budget *budget, struct al_differences *ret_differences,
                       struct al_str *ret_text, struct al_error *err);

#endif
