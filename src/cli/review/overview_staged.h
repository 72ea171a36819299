// SPDX-License-Identifier: Apache-2.0
/* The staged commits of an overview, read from the records of all stores. */
#ifndef AL_CLI_REVIEW_OVERVIEW_STAGED_H
#define AL_CLI_REVIEW_OVERVIEW_STAGED_H

#include "cli/review/overview.h"

/** Read the staged commits below a state directory, newest first.  Appends what tells them apart
 * from other ones to `ret_seen`. */
void al_overview_read_staged(struct al_overview *shown, const char *state_dir,
                             struct al_str *ret_seen);

/** Forget them. */
void al_overview_clear_staged(struct al_overview *shown);

#endif
