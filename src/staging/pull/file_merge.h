// SPDX-License-Identifier: Apache-2.0
/* For pull.c: merging files that changed both in the sandbox and upstream. */
#ifndef AL_STAGING_PULL_FILE_MERGE_H
#define AL_STAGING_PULL_FILE_MERGE_H

#include "gitops/command.h"
#include "staging/pull/plan.h"
#include "util/error.h"

struct al_staging;

/**
 * Merge the lines of every item with `merges`, whose incoming version the store has, and put the
 * results into the store, beside the versions that they replace.
 */
int al_pull_merge(struct al_staging *staging, struct al_pull_plan *plan,
                  struct al_run_limits *budget, struct al_error *err);

#endif
