// SPDX-License-Identifier: Apache-2.0
#include "toolsets/workflow/workflow.h"

static const struct al_tool *const tools[] = {
    &al_tool_workflow_status,
    &al_tool_workflow_merge,
    &al_tool_workflow_conflict_info,
    &al_tool_workflow_resolve_conflict,
    NULL,
};

const struct al_toolset al_toolset_workflow = {
    .name = "workflow",
    .about = "git with structured results and error codes",
    .tools = tools,
};

json_t *al_workflow_strings(const struct al_strv *items)
{
    json_t *array = al_json_array();

    for (size_t i = 0; i < items->count; i++)
        al_json_append(array, al_json_string(items->items[i]));
    return array;
}
