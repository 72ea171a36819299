// SPDX-License-Identifier: Apache-2.0
/* The diff of a staged commit, as git_diff shows it. */
#ifndef AL_STAGING_STAGED_DIFF_H
#define AL_STAGING_STAGED_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "staging/staged.h"
#include "util/error.h"
#include "util/str.h"

struct al_run_limits;
struct al_staging;

/**
 * Append the unified diff of a staged commit, as safe text: `Staged commit: abc12345 "message"`,
 * then the files with their names in the workspace.
 *
 * @param max_bytes      Of this text.  A longer one ends with the number of lines left out and
 *                       AL_TEXT_MARKER.
 * @param ret_truncated  Set when something was left out.
 */
int al_staged_diff(struct al_staging *staging, const struct al_staged *staged, size_t max_bytes,
                   struct al_run_limits *budget, struct al_str *out, bool *ret_truncated,
                   struct al_error *err);

#endif
