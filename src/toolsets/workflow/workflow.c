// SPDX-License-Identifier: Apache-2.0
#include "toolsets/workflow/workflow.h"

static const struct al_tool *const tools[] = {
    &al_tool_workflow_status,
    &al_tool_workflow_diff,
    &al_tool_workflow_log,
    &al_tool_workflow_commit,
    &al_tool_workflow_branch,
    &al_tool_workflow_checkout,
    &al_tool_workflow_merge,
    &al_tool_workflow_conflict_info,
    &al_tool_workflow_resolve_conflict,
    &al_tool_workflow_stash,
    &al_tool_workflow_fetch,
    &al_tool_workflow_pull,
    &al_tool_workflow_push,
    &al_tool_workflow_remote,
    &al_tool_workflow_generate_pr,
    NULL,
};

static const struct al_toolset toolset = {
    .name = "workflow",
    .about = "git with structured results and error codes",
    .tools = tools,
};

int al_toolset_workflow_register(struct al_toolset_registry *registry, struct al_error *err)
{
    return al_toolset_register(registry, &toolset, err);
}
