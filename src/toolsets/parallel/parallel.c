// SPDX-License-Identifier: Apache-2.0
#include "toolsets/parallel/parallel.h"

#include "toolsets/worktree.h"

static const struct al_tool *const tools[] = {
    &al_tool_git_worktree,
    &al_tool_parallel_compare,
    &al_tool_parallel_land,
    NULL,
};

static const struct al_toolset toolset = {
    .name = "parallel",
    .about = "linked worktrees for several agents, and landing their branches",
    .tools = tools,
};

int al_toolset_parallel_register(struct al_toolset_registry *registry, struct al_error *err)
{
    return al_toolset_register(registry, &toolset, err);
}
