// SPDX-License-Identifier: Apache-2.0
/* auto_pull of a worker file. */
#ifndef AL_CLI_AUTO_PULL_H
#define AL_CLI_AUTO_PULL_H

#include "cli/setup.h"

struct al_cancel;

/**
 * Pull the files that the worker file names into the sandbox, one call of git_pull for each, which
 * is checked and journaled like any other.  What cannot be pulled is named on standard error.
 *
 * @param cancel  Borrowed.
 */
void al_auto_pull(const struct al_setup *setup, struct al_cancel *cancel);

/** Pulls that run on a thread of their own. */
struct al_auto_pulling;

/** Begin to pull in the background.  NULL when there is nothing to pull.  The setup is borrowed
 * until al_auto_pull_end(). */
struct al_auto_pulling *al_auto_pull_begin(const struct al_setup *setup);

/** A token that fires when the pulls have ended; NULL for NULL.  Borrowed. */
const struct al_cancel *al_auto_pull_ended(const struct al_auto_pulling *pulling);

/** Cancel what still runs, wait for its end, and free it; NULL is fine. */
void al_auto_pull_end(struct al_auto_pulling *pulling);

#endif
