// SPDX-License-Identifier: Apache-2.0
/* Bringing files of a branch into the sandbox, and merging. */
#ifndef AL_STAGING_PULL_PULL_H
#define AL_STAGING_PULL_PULL_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"

struct al_repo;
struct al_staging;

/** The request of a pull.  Everything is borrowed. */
struct al_pull_request {
    const struct al_repo *repo;  /**< has the commit */
    const char *target;          /**< al_target_key() */
    const char *branch;          /**< the full name */
    const char *commit;          /**< where the branch is, as hex */
    const char *where;           /**< the branch, for messages: "local:proj (branch: main)" */
    const struct al_strv *paths; /**< files, directories or patterns, relative to the
                                      top; NULL or empty: none are named */
    bool everything;             /**< with no paths: all files, else those that were pulled from
                                      this branch before */
};

/** The outcome of a pull.  Set up with AL_PULL_RESULT_INIT. */
struct al_pull_result {
    struct al_strv pulled;    /**< paths that were written */
    struct al_strv conflicts; /**< paths that need a decision */
    struct al_strv notes;     /**< safe lines: the conflicts, and what was left alone */
};

#define AL_PULL_RESULT_INIT ((struct al_pull_result){ AL_STRV_INIT, AL_STRV_INIT, AL_STRV_INIT })

/** Free what a result owns. */
void al_pull_result_clear(struct al_pull_result *result);

/**
 * Pull.  Blobs are copied into the store, so that the base does not change whatever happens to the
 * repository.  The sandbox changes as a whole or not at all.
 *
 * @return 0, also with conflicts; AL_ERR_BAD_ARGS when paths are needed; AL_ERR_EXECUTION, with the
 *         reason "not_found" for a path that does not exist; AL_ERR_SANDBOX for one outside.
 */
int al_pull(struct al_staging *staging, const struct al_pull_request *request,
            struct al_run_limits *budget, struct al_pull_result *ret_result, struct al_error *err);

/** Take back a pull that was killed; files that were changed since stay as they are.  The caller
 * holds the store's lock. */
void al_pull_recover(struct al_staging *staging);

/** The most bytes of one version that is merged. */
#define AL_MERGE_MAX_BYTES (16u << 20)

enum al_text_merge {
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
 * other side, also where it is binary.  Otherwise git runs in the store, where no attribute and no
 * configuration of a user's repository is read.
 *
 * @param[out] ret_content  The result.  Cleared first.
 */
int al_merge(struct al_staging *staging, const struct al_merge_sides *sides,
             struct al_run_limits *budget, enum al_text_merge *ret_outcome,
             struct al_str *ret_content, struct al_error *err);

#endif
