// SPDX-License-Identifier: Apache-2.0
#include "toolsets/readonly/readonly.h"

static const struct al_tool *const tools[] = { &al_tool_readonly_git, NULL };

const struct al_toolset al_toolset_readonly = {
    .name = "readonly",
    .about = "one tool that reads repositories and cannot write, with structured results",
    .tools = tools,
};
