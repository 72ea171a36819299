// SPDX-License-Identifier: Apache-2.0
/* Merging two versions of a file, line by line, as `git merge-file` does. */
#ifndef AL_STAGING_PULL_MERGE_H
#define AL_STAGING_PULL_MERGE_H

#include <stddef.h>

#include "util/error.h"
#include "util/str.h"

struct al_run_limits;
struct al_staging;

/** The most bytes of one version that is merged line by line. */
#define AL_MERGE_MAX_BYTES (16u << 20)

enum al_merge_outcome {
    AL_MERGE_CLEAN,
    AL_MERGE_CONFLICT,  /**< the content has markers */
    AL_MERGE_BINARY,    /**< both sides changed and one is binary; there is no content */
    AL_MERGE_TOO_LARGE, /**< both sides changed and one is too large; there is no content */
};

/** The versions.  `base` is NULL when it is not known. */
struct al_merge_sides {
    const struct al_str *base, *ours, *theirs;
};

/**
 * Merge.  A side that is as the base, or as the other side, needs no lines: the result is then the
 * other side, whatever it holds.  Otherwise git runs in the store, where no attribute and no
 * configuration of a user's repository is read.
 *
 * @param[out] ret_content  The result.  Cleared first.
 */
int al_merge(struct al_staging *staging, const struct al_merge_sides *sides,
             struct al_run_limits *budget, enum al_merge_outcome *ret_outcome,
             struct al_str *ret_content, struct al_error *err);

#endif
