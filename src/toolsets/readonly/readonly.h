// SPDX-License-Identifier: Apache-2.0
/* The toolset `readonly`: one tool, which only reads repositories. */
#ifndef AL_TOOLSETS_READONLY_READONLY_H
#define AL_TOOLSETS_READONLY_READONLY_H

#include "tool/registry.h"
#include "tool/tool.h"

/** Register the toolset. */
int al_toolset_readonly_register(struct al_toolset_registry *registry, struct al_error *err);
extern const struct al_tool al_tool_readonly_git;

#endif
