// SPDX-License-Identifier: Apache-2.0
/* The toolset `files`: the files of the sandbox, which the session holds.  None of its tools needs
 * a repository. */
#ifndef AL_TOOLSETS_FILES_FILES_H
#define AL_TOOLSETS_FILES_FILES_H

#include "tool/tool.h"

/** The tools; each has a file of its own. */
extern const struct al_tool al_tool_files_read;
extern const struct al_tool al_tool_files_write;
extern const struct al_tool al_tool_files_list;
extern const struct al_tool al_tool_files_delete;

/** The longest path in bytes; enforced but not printed in schemas. */
#define AL_FILES_PATH_MAX_BYTES 4096

/** The row of the path of a file. */
#define AL_FILES_PATH_ROW(T)                                                                       \
    AL_STRING(T, path, "Such as /workspace/notes.md.", .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, \
              .min_bytes = 1, .max_bytes = AL_FILES_PATH_MAX_BYTES)

/**
 * Stage 4: check the path of a file, and keep its path in the sandbox as the call's tool data.
 *
 * @return as al_sandbox_path(); AL_ERR_BAD_ARGS for a path that ends with '/'.
 */
int al_files_authorize(struct al_call *call, const char *given, struct al_error *err);

#endif
