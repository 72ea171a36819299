// SPDX-License-Identifier: Apache-2.0
/* For pull.c: what the result of a pull says. */
#ifndef AL_STAGING_PULL_NOTES_H
#define AL_STAGING_PULL_NOTES_H

#include "staging/pull/plan.h"
#include "staging/pull/pull.h"

/** Fill the result from the items.  `is_lfs` has a value for each file of the list. */
void al_pull_report(const struct al_pull_plan *plan, const bool *is_lfs,
                    struct al_pull_result *result);

#endif
