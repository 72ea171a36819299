// SPDX-License-Identifier: Apache-2.0
/* Prints every tool of every toolset as a client sees it; golden.py compares. */
#include <stdio.h>

#include "tools/toolsets.h"

static json_t *seen(const struct al_toolset *toolset, const struct al_tool *tool)
{
    static const struct al_tool_defaults defaults = { .timeout_ms = 30000, .max_bytes = 200000 };
    json_t *entry = al_json_object();

    al_json_set(entry, "toolset", al_json_string(toolset->name));
    al_json_set(entry, "name", al_json_string(tool->name));
    al_json_set(entry, "title", al_json_string(tool->title));
    al_json_set(entry, "description", al_json_string(tool->about));
    al_json_set(entry, "inputSchema", al_tool_schema(tool, &defaults));
    if (tool->output_schema)
        al_json_set(entry, "outputSchema", al_tool_output_schema(tool));
    al_json_set(entry, "annotations", al_tool_annotations(tool, true));
    return entry;
}

int main(void)
{
    al_auto(al_json_decrefp) json_t *all = al_json_array();
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_toolset_registry *toolsets = al_toolsets();

    for (size_t i = 0; i < toolsets->count; i++) {
        for (size_t j = 0; toolsets->items[i].tools[j]; j++)
            al_json_append(all, seen(&toolsets->items[i], toolsets->items[i].tools[j]));
    }
    al_json_dump(all, false, &text);
    return puts(text.buf) < 0;
}
