// SPDX-License-Identifier: Apache-2.0
/*
 * For pull.c: changing the sandbox, all of it or nothing.
 *
 * In a directory the files change one after the other.  From before the first change until the base
 * has been written, refs/pull/<key> is a commit of the changed files as they become; its parent has
 * them as they were, and its message names the base.  So a pull that was killed in between is taken
 * back by the next session.  A file is there as a whole or not at all.
 */
#ifndef AL_STAGING_PULL_APPLY_H
#define AL_STAGING_PULL_APPLY_H

#include "gitops/command.h"
#include "staging/pull/plan.h"
#include "util/error.h"

struct al_staging;

/**
 * Make the changes of a plan.  The store has both versions of every file already.  With the store's
 * lock held.
 *
 * @return 0; AL_ERR_EXECUTION, also when a file has changed since the plan was made.  What was
 *         changed until then, al_pull_take_back() changes back.
 */
int al_pull_apply(struct al_staging *staging, struct al_pull_plan *plan,
                  struct al_run_limits *budget, struct al_error *err);

/** Undo the changes of a pull that failed.  Files that are not as the pull left them stay. */
void al_pull_take_back(struct al_staging *staging, const struct al_pull_plan *plan);

/** The base has been written: the pull is complete. */
int al_pull_complete(struct al_staging *staging, struct al_run_limits *budget,
                     struct al_error *err);

/** Take back a pull that was killed; files that were changed since stay as they are.  With the
 * store's lock held. */
void al_pull_recover(struct al_staging *staging);

#endif
