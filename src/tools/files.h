// SPDX-License-Identifier: Apache-2.0
/* The toolset `files`. */
#ifndef AL_TOOLS_FILES_H
#define AL_TOOLS_FILES_H

#include "call/tool.h"

/** The tools. */
extern const struct al_tool al_tool_files_read, al_tool_files_write, al_tool_files_list,
    al_tool_files_delete;

#endif
