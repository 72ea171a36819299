// SPDX-License-Identifier: Apache-2.0
/* The toolset `readonly`: one tool, which only reads repositories. */
#ifndef AL_TOOLS_READONLY_READONLY_H
#define AL_TOOLS_READONLY_READONLY_H

#include "call/tool.h"

/** The tool. */
extern const struct al_tool al_tool_readonly_git;

#endif
