// SPDX-License-Identifier: Apache-2.0
/* What tools of the toolset `parallel` share: limits, and the row of the working directory. */
#ifndef AL_TOOLSETS_PARALLEL_ROWS_H
#define AL_TOOLSETS_PARALLEL_ROWS_H

#include "answer/answer.h"
#include "answer/failure.h"
#include "tool/tool.h"

/* The last field, the last row and the settings of a tool.  `T` is the tool's args struct. */
#define AL_PARALLEL_FIELDS const char *working_dir
#define AL_PARALLEL_WORKING_DIR_ROW(T)                                                             \
    AL_STRING(T, working_dir, NULL, .flags = AL_PARAM_NAME, .max_bytes = AL_PARAM_PATH_MAX_BYTES)
#define AL_PARALLEL_TOOL(T)                                                                        \
    .args_size = sizeof(T), .working_dir_offset = offsetof(T, working_dir),                        \
    .finish = al_answer_done, .complete_error = al_failure_complete

#endif
