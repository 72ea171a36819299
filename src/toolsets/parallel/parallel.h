// SPDX-License-Identifier: Apache-2.0
/* The toolset `parallel`: several agents in one repository, each in a linked worktree.  Results are
 * plain text. */
#ifndef AL_TOOLSETS_PARALLEL_PARALLEL_H
#define AL_TOOLSETS_PARALLEL_PARALLEL_H

#include "tool/registry.h"
#include "tool/tool.h"

/** The tools; each has a file of its own. */
extern const struct al_tool al_tool_parallel_compare;
extern const struct al_tool al_tool_parallel_land;

/** Register the toolset. */
int al_toolset_parallel_register(struct al_toolset_registry *registry, struct al_error *err);

#endif
