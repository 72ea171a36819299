// SPDX-License-Identifier: Apache-2.0
#include "mcp/tools_list.h"

#include <stdlib.h>

#include "tool/call.h"
#include "tool/mounts.h"
#include "tool/tool.h"
#include "util/json.h"

static json_t *output_schema_of(const struct al_tool *tool)
{
    json_t *schema = json_loads(tool->output_schema, JSON_REJECT_DUPLICATES, NULL);

    if (!schema)
        abort(); /* a constant; the table test parses every one */
    return schema;
}

/* What the server says, and nothing else.  Returns `item`. */
static json_t *add_definition(const struct al_tool *tool, json_t *item)
{
    const struct al_tool_definition *definition = tool->definition;

    if (definition->has_title)
        al_json_set(item, "title", al_json_string(tool->title));
    if (*tool->about)
        al_json_set(item, "description", al_json_string(tool->about));
    al_json_set(item, "inputSchema", json_incref((json_t *)definition->input_schema));
    if (definition->output_schema)
        al_json_set(item, "outputSchema", json_incref((json_t *)definition->output_schema));
    if (definition->annotations)
        al_json_set(item, "annotations", json_incref((json_t *)definition->annotations));
    return item;
}

static json_t *tool_entry(const struct al_session *session, const struct al_tool *tool)
{
    json_t *item = al_json_object();

    al_json_set(item, "name", al_json_string(tool->name));
    if (tool->definition)
        return add_definition(tool, item);
    al_json_set(item, "title", al_json_string(tool->title));
    al_json_set(item, "description", al_json_string(tool->about));
    al_json_set(item, "inputSchema", al_tool_schema(tool, &session->defaults));
    if (tool->output_schema)
        al_json_set(item, "outputSchema", output_schema_of(tool));
    al_json_set(item, "annotations", al_tool_annotations(tool, session->checkpoints != NULL));
    return item;
}

static void add_tool(const struct al_session *session, const struct al_tool *tool, json_t *tools)
{
    if (al_grant_has_tool(session->grant, tool->name))
        al_json_append(tools, tool_entry(session, tool));
}

char *al_tools_list_text(const struct al_session *session, const struct al_mounted_list *mounted)
{
    al_auto(al_json_decrefp) json_t *tools = al_json_array();
    struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < session->registry->count; i++) {
        const struct al_tool *tool = session->registry->items[i].tool;

        if (!al_mounts_replaces(session->mounts, tool->name))
            add_tool(session, tool, tools);
    }
    for (size_t i = 0; mounted && i < mounted->count; i++)
        add_tool(session, mounted->items[i].tool, tools);
    al_str_adds(&text, "\"tools\":");
    al_json_dump(tools, false, &text);
    return al_str_detach(&text);
}
