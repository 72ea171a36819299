// SPDX-License-Identifier: Apache-2.0
/*
 * What a sandbox last saw of a branch: the files that were pulled from it or pushed to it.
 *
 * The base (staging/base.h) says what a status compares a file of the sandbox with, wherever it
 * came from.  The origin is the common ancestor of a pull from its branch: what was pushed to
 * another branch meanwhile is a change of the sandbox.  A file that disappears from a branch is
 * removed from the sandbox only if the branch is where it came from.
 */
#ifndef AL_STAGING_ORIGINS_H
#define AL_STAGING_ORIGINS_H

#include "staging/base.h"
#include "util/error.h"

struct al_run_limits;
struct al_staging;

/** A branch of a target. */
struct al_branch_name {
    const char *target; /**< al_target_key() */
    const char *branch; /**< the full name */
};

/** Read the origin of a sandbox; one that is not known is empty.  Release with al_base_clear(). */
int al_origin_load(struct al_staging *staging, const char *key, const struct al_branch_name *branch,
                   struct al_run_limits *budget, struct al_base *ret_origin, struct al_error *err);

/** Write it, durable.  With the store's lock held. */
int al_origin_save(struct al_staging *staging, const char *key, const struct al_branch_name *branch,
                   struct al_base *origin, struct al_run_limits *budget, struct al_error *err);

#endif
