// SPDX-License-Identifier: Apache-2.0
/* The toolset `git`: git's commands with plain text results. */
#ifndef AL_TOOLS_GIT_H
#define AL_TOOLS_GIT_H

#include "base/str.h"
#include "call/tool.h"
#include <stdbool.h>

struct al_call;
struct al_git_output;
struct al_result;

/** The tools; each has a file of its own. */
extern const struct al_tool al_tool_git_status, al_tool_git_diff, al_tool_git_log, al_tool_git_add,
    al_tool_git_commit, al_tool_git_show, al_tool_git_blame, al_tool_git_restore,
    al_tool_git_branch, al_tool_git_checkout, al_tool_git_stash;

/* The last rows of every tool.  `T` is the tool's args struct. */
#define AL_GIT_COMMON_ROWS(T)                                                                      \
    AL_INT(T, timeout_ms, "Timeout.", .flags = AL_PARAM_TIMEOUT, .min = 100, .max = 600000),       \
        AL_STRING(T, working_dir, "Where git runs.", .flags = AL_PARAM_NAME,                       \
                  .max_bytes = AL_PARAM_PATH_MAX_BYTES)
#define AL_GIT_MAX_BYTES_ROW(T, ...)                                                               \
    AL_INT(T, max_bytes, "Cap of the output.", .flags = AL_PARAM_MAX_BYTES, .min = 1,              \
           .max = 5000000, __VA_ARGS__)

/* The fields of these rows. */
#define AL_GIT_COMMON_FIELDS                                                                       \
    struct al_opt_int timeout_ms;                                                                  \
    const char *working_dir

#define AL_GIT_COMMON_OFFSETS(T)                                                                   \
    .args_size = sizeof(T), .working_dir_offset = offsetof(T, working_dir)

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
