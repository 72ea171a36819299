// SPDX-License-Identifier: Apache-2.0
#include "toolsets/readonly/readonly.h"

static const struct al_tool *const tools[] = { &al_tool_readonly_git, NULL };

static const struct al_toolset toolset = {
    .name = "readonly",
    .about = "one tool that reads repositories and cannot write, with structured results",
    .tools = tools,
};

int al_toolset_readonly_register(struct al_toolset_registry *registry, struct al_error *err)
{
    return al_toolset_register(registry, &toolset, err);
}
