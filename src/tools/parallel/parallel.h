// SPDX-License-Identifier: Apache-2.0
/* The toolset `parallel`: several agents in one repository, each in a linked worktree.  Results are
 * plain text. */
#ifndef AL_TOOLS_PARALLEL_PARALLEL_H
#define AL_TOOLS_PARALLEL_PARALLEL_H

#include "call/answer.h"
#include "call/failure.h"
#include "call/tool.h"

/** The tools; each has a file of its own. */
extern const struct al_tool al_tool_git_worktree; /**< of toolset everyday too */
extern const struct al_tool al_tool_parallel_compare;
extern const struct al_tool al_tool_parallel_land;

/* The last field, the last row and the settings of a tool.  `T` is the tool's args struct. */
#define AL_PARALLEL_FIELDS const char *working_dir
#define AL_PARALLEL_WORKING_DIR_ROW(T)                                                             \
    AL_STRING(T, working_dir, NULL, .flags = AL_PARAM_NAME, .max_bytes = AL_PARAM_PATH_MAX_BYTES)
#define AL_PARALLEL_TOOL(T)                                                                        \
    .args_size = sizeof(T), .working_dir_offset = offsetof(T, working_dir),                        \
    .finish = al_answer_done, .words = AL_WORDS_EVERYDAY, .complete_error = al_failure_complete

#endif
