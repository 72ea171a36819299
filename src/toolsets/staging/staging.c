// SPDX-License-Identifier: Apache-2.0
#include "toolsets/staging/staging.h"

static const struct al_tool *const tools[] = {
    &al_tool_staging_status, &al_tool_staging_stage,    &al_tool_staging_diff,
    &al_tool_staging_push,   &al_tool_staging_discard,  &al_tool_staging_pull,
    &al_tool_staging_merge,  &al_tool_staging_branches, NULL,
};

static const struct al_toolset toolset = {
    .name = "staging",
    .about = "the sandbox's changes: stage them, and push what the user approves",
    .tools = tools,
    .configure = al_toolset_staging_configure,
};

int al_toolset_staging_register(struct al_toolset_registry *registry, struct al_error *err)
{
    return al_toolset_register(registry, &toolset, err);
}
