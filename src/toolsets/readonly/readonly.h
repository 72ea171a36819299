// SPDX-License-Identifier: Apache-2.0
/* The toolset `readonly`: one tool, which only reads repositories. */
#ifndef AL_TOOLSETS_READONLY_READONLY_H
#define AL_TOOLSETS_READONLY_READONLY_H

#include "tool/tool.h"

/** The tool. */
extern const struct al_tool al_tool_readonly_git;

#endif
