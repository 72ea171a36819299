// SPDX-License-Identifier: Apache-2.0
/* The result of restoring files, for git_restore and git_checkout. */
#ifndef AL_TOOLSETS_GIT_RESTORED_H
#define AL_TOOLSETS_GIT_RESTORED_H

#include <stdbool.h>

#include "util/str.h"

struct al_call;
struct al_git_output;
struct al_result;

/**
 * Set the result: how many files were restored.
 *
 * @param paths     The paths that were given.
 * @param unstaged  Whether staged changes were discarded as well.
 * @param output    git's output, which is replaced.
 */
void al_git_shape_restored(const struct al_call *call, const struct al_strv *paths, bool unstaged,
                           struct al_git_output *output, struct al_result *result);

#endif
