// SPDX-License-Identifier: Apache-2.0
/*
 * The changes in the sandbox since it was last pulled, pushed or staged, and making a staged commit
 * of them.
 */
#ifndef AL_STAGING_STAGE_H
#define AL_STAGING_STAGE_H

#include "base/error.h"
#include "base/str.h"
#include "staging/base.h"
#include "staging/sandbox/sandbox.h"
#include "staging/staged.h"

struct al_run_limits;
struct al_staging;

/** The most files of one staged commit, and the most staged commits of one store. */
#ifndef AL_STAGE_FILES_MAX
#define AL_STAGE_FILES_MAX   10000
#define AL_STAGE_COMMITS_MAX 1000
#endif

/** The most content of all staged commits of a store, in times of what one may have; and how much
 * of what nothing names a store may have. */
#define AL_STAGE_STORE_FACTOR 8

/** The changes with what they were found in. */
struct al_comparison {
    struct al_staged_list staged;    /**< all staged commits of the store */
    struct al_base base;             /**< with the staged commits applied, oldest first */
    struct al_sandbox_files files;   /**< everything in the sandbox */
    struct al_sandbox_files changes; /**< what differs */
};

void al_comparison_clear(struct al_comparison *comparison);

/** Compare the sandbox with its base and the staged commits that were made from it, and keep both
 * sides.  The staging has a sandbox. */
int al_comparison_make(struct al_staging *staging, struct al_run_limits *budget,
                       struct al_comparison *ret_comparison, struct al_error *err);

/** The status of a change in GitStatus: "new", "modified" or "deleted". */
const char *al_change_status(const struct al_sandbox_file *change);

/**
 * Stage changed files of the sandbox.
 *
 * @param words    Files, directories or patterns, as "/workspace/…".  A directory or a pattern
 *                 stands for the changed files it contains or matches.
 * @param message  The commit message.
 * @return 0; AL_ERR_BAD_ARGS or AL_ERR_SANDBOX for a path that no sandbox has; AL_ERR_EXECUTION
 *         naming the file that does not exist, is unchanged or has conflict markers of a pull, or
 *         the limit that is exceeded.
 */
int al_stage(struct al_staging *staging, const struct al_strv *words, const char *message,
             struct al_run_limits *budget, struct al_staged *ret_staged, struct al_error *err);

/** Append the paths of those changes whose files have conflict markers of a pull.  `ret_separator`:
 * of the first of them only a line `=======` is left; may be NULL. */
int al_markers_find(struct al_staging *staging, const struct al_comparison *found,
                    struct al_strv *ret_paths, bool *ret_separator, struct al_error *err);

#endif
