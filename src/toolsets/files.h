// SPDX-License-Identifier: Apache-2.0
/* The toolset `files`. */
#ifndef AL_TOOLSETS_FILES_H
#define AL_TOOLSETS_FILES_H

#include "tool/tool.h"

/** The tools. */
extern const struct al_tool al_tool_files_read, al_tool_files_write, al_tool_files_list,
    al_tool_files_delete;

#endif
