// SPDX-License-Identifier: Apache-2.0
/*
 * For pull.c: changing the sandbox, all of it or nothing.
 *
 * In a directory the files change one after the other.  sandboxes/<key>.pull has the versions
 * before and after from before the first change until the base has been written, so a pull that was
 * killed in between is taken back by the next session.  A file is there as a whole or not at all.
 *
 * Most files of a first pull are new.  They are created while their content is copied into the
 * store (copy.h), all others by al_pull_apply().
 */
#ifndef AL_STAGING_PULL_APPLY_H
#define AL_STAGING_PULL_APPLY_H

#include "staging/pull/plan.h"
#include "util/error.h"

struct al_staging;

/**
 * Choose the files that are created while they are copied, and record the changes if there are any.
 * None are chosen in memory, nor when something has to be removed first to make room.
 *
 * @param[out] creates  Set for the chosen files; one for each file of the commit's list.
 */
int al_pull_begin_creating(struct al_staging *staging, struct al_pull_plan *plan, bool *creates,
                           struct al_error *err);

/** Mark what was created, when the copying succeeded. */
void al_pull_end_creating(struct al_pull_plan *plan, const bool *creates);

/**
 * Make the other changes of a plan.  The store has both versions of every file already.  With the
 * store's lock held.
 *
 * @return 0; AL_ERR_EXECUTION, also when a file has changed since the plan was made.  What was
 *         changed until then, al_pull_take_back() changes back.
 */
int al_pull_apply(struct al_staging *staging, struct al_pull_plan *plan, struct al_error *err);

/** Undo the changes of a pull that failed after al_pull_begin_creating().  Files that are not as
 * the pull left them stay. */
void al_pull_take_back(struct al_staging *staging, const struct al_pull_plan *plan);

/** The base has been written: the pull is complete. */
int al_pull_complete(struct al_staging *staging, struct al_error *err);

/** Take back a pull that was killed; files that were changed since stay as they are.  With the
 * store's lock held. */
void al_pull_recover(struct al_staging *staging);

#endif
