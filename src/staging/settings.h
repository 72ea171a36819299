// SPDX-License-Identifier: Apache-2.0
/*
 * The part of a worker file about the toolset `staging`:
 *
 *   default_target: {type: local, path: ., branch: "worker-{timestamp}"}
 *   auto_pull:
 *     - path: templates/
 *       source: {type: local, path: .}
 */
#ifndef AL_STAGING_SETTINGS_H
#define AL_STAGING_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "staging/target.h"

struct al_value;

/** Files that are pulled into the sandbox at start. */
struct al_auto_pull {
    const char *path;        /**< as `paths` of git_pull takes it */
    struct al_target source; /**< checked; not given: the default target */
};

/** Zero-initialised, there are none. */
struct al_staging_settings {
    struct al_target target; /**< the default target, checked, its branch expanded */
    struct al_auto_pull *pulls;
    size_t npulls;
};

void al_staging_settings_clear(struct al_staging_settings *settings);
void al_staging_settings_free(struct al_staging_settings *settings);

/**
 * Read the settings from a worker file.
 *
 * @param config  The mapping below the toolset's name, or nothing.
 * @param worker  The name in the worker file, for `{worker}`.
 * @param stamp   The start of the session, for `{timestamp}`: al_clock_stamp().
 * @return 0, or AL_ERR_BAD_ARGS with file, line and key; not sanitized.
 */
int al_staging_settings_read(const struct al_value *config, const char *worker, const char *stamp,
                             struct al_staging_settings *ret_settings, struct al_error *err);

/**
 * Expand a branch name of a worker file: `{timestamp}` and `{worker}`, the latter made a valid part
 * of a branch name.  Other words in braces are refused.
 *
 * @param[out] ret_branch  Not checked yet.  Caller frees.
 */
int al_branch_template_expand(const char *text, const char *worker, const char *stamp,
                              char **ret_branch, struct al_error *err);

#endif
