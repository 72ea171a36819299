// SPDX-License-Identifier: Apache-2.0
/* The client's view of a tool's tables: its JSON Schema and its annotations. */
#include <stdlib.h>

#include "tool/tool.h"

int64_t al_param_default_int(const struct al_param *param, const struct al_tool_defaults *defaults)
{
    if (param->flags & AL_PARAM_TIMEOUT)
        return defaults->timeout_ms;
    if (param->flags & AL_PARAM_MAX_BYTES)
        return defaults->max_bytes;
    return param->default_int;
}

bool al_param_is_required(const struct al_param *param, const struct al_tool_defaults *defaults)
{
    if ((param->flags & AL_PARAM_DEFAULT_TARGET) && defaults->has_target)
        return false;
    return param->flags & AL_PARAM_REQUIRED;
}

size_t al_param_max_bytes(const struct al_param *param)
{
    if (param->max_bytes)
        return param->max_bytes;
    if (param->flags & (AL_PARAM_PATH | AL_PARAM_OUTPUT))
        return AL_PARAM_PATH_MAX_BYTES;
    return param->flags & (AL_PARAM_BRANCH | AL_PARAM_NAME) ? AL_PARAM_NAME_MAX_BYTES
                                                            : AL_PARAM_TEXT_MAX_BYTES;
}

int64_t al_param_max_items(const struct al_param *param)
{
    return param->max ? param->max : AL_PARAM_ITEMS_MAX;
}

static json_t *typed(const char *type)
{
    json_t *schema = al_json_object();

    al_json_set(schema, "type", al_json_string(type));
    return schema;
}

static void add_string_rules(const struct al_param *param, json_t *schema)
{
    if (param->min_bytes > 0)
        al_json_set(schema, "minLength", al_json_int((int64_t)param->min_bytes));
    if (param->pattern)
        al_json_set(schema, "pattern", al_json_string(param->pattern));
}

static json_t *bool_schema(const struct al_param *param)
{
    json_t *schema = typed("boolean");

    if (!(param->flags & AL_PARAM_REQUIRED))
        al_json_set(schema, "default", al_json_bool(param->default_int != 0));
    return schema;
}

static json_t *int_schema(const struct al_param *param, const struct al_tool_defaults *defaults)
{
    const unsigned has_default = AL_PARAM_HAS_DEFAULT | AL_PARAM_TIMEOUT | AL_PARAM_MAX_BYTES;
    json_t *schema = typed("integer");

    al_json_set(schema, "minimum", al_json_int(param->min));
    if (!(param->flags & (AL_PARAM_MAX_HIDDEN | AL_PARAM_TIMEOUT)))
        al_json_set(schema, "maximum", al_json_int(param->max));
    if (param->flags & has_default)
        al_json_set(schema, "default", al_json_int(al_param_default_int(param, defaults)));
    return schema;
}

static json_t *string_schema(const struct al_param *param)
{
    json_t *schema = typed("string");

    add_string_rules(param, schema);
    if (param->flags & AL_PARAM_HAS_DEFAULT)
        al_json_set(schema, "default", al_json_string(param->default_str));
    return schema;
}

static json_t *strings_schema(const struct al_param *param)
{
    json_t *schema = typed("array");
    json_t *items = typed("string");

    add_string_rules(param, items);
    al_json_set(schema, "items", items);
    if (param->min > 0)
        al_json_set(schema, "minItems", al_json_int(param->min));
    return schema;
}

static json_t *choice_schema(const struct al_param *param)
{
    json_t *schema = typed("string");
    json_t *names = al_json_array();
    const char *standard = NULL;

    for (const struct al_choice *choice = param->choices; choice->name; choice++) {
        al_json_append(names, al_json_string(choice->name));
        if (choice->value == param->default_int)
            standard = choice->name;
    }
    al_json_set(schema, "enum", names);
    if (standard && !(param->flags & AL_PARAM_REQUIRED))
        al_json_set(schema, "default", al_json_string(standard));
    return schema;
}

static json_t *rows_schema(const struct al_param *params, size_t nparams,
                           const struct al_tool_defaults *defaults);

static json_t *objects_schema(const struct al_param *param, const struct al_tool_defaults *defaults)
{
    json_t *schema = typed("array");

    al_json_set(schema, "items",
                rows_schema(param->object->params, param->object->nparams, defaults));
    if (param->min > 0)
        al_json_set(schema, "minItems", al_json_int(param->min));
    return schema;
}

static json_t *param_schema(const struct al_param *param, const struct al_tool_defaults *defaults)
{
    switch (param->type) {
    case AL_TYPE_BOOL:
        return bool_schema(param);
    case AL_TYPE_INT:
        return int_schema(param, defaults);
    case AL_TYPE_STRING:
        return string_schema(param);
    case AL_TYPE_STRINGS:
        return strings_schema(param);
    case AL_TYPE_CHOICE:
        return choice_schema(param);
    case AL_TYPE_OBJECT:
        return rows_schema(param->object->params, param->object->nparams, defaults);
    case AL_TYPE_OBJECTS:
        return objects_schema(param, defaults);
    }
    abort(); /* a row of no type */
}

static json_t *rows_schema(const struct al_param *params, size_t nparams,
                           const struct al_tool_defaults *defaults)
{
    al_auto(al_json_decrefp) json_t *required = al_json_array();
    json_t *properties = al_json_object();
    json_t *schema = typed("object");

    for (size_t i = 0; i < nparams; i++) {
        const struct al_param *param = &params[i];
        json_t *property = param_schema(param, defaults);

        if (param->about)
            al_json_set(property, "description", al_json_string(param->about));
        al_json_set(properties, param->name, property);
        if (al_param_is_required(param, defaults))
            al_json_append(required, al_json_string(param->name));
    }
    al_json_set(schema, "properties", properties);
    if (json_array_size(required) > 0)
        al_json_set(schema, "required", al_take(&required));
    al_json_set(schema, "additionalProperties", al_json_bool(false));
    return schema;
}

/* Take out what a client assumes without it. */
static void shorten_schema(json_t *schema)
{
    const char *name;
    json_t *property;

    (void)json_object_del(schema, "additionalProperties");
    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        if (json_is_false(json_object_get(property, "default")))
            (void)json_object_del(property, "default");
        (void)json_object_del(property, "minLength");
        shorten_schema(json_object_get(property, "items"));
    }
}

/* Source: MCP, "ToolAnnotations". */
static void shorten_hints(json_t *hints)
{
    static const struct {
        const char *name;
        bool standard,
            for_changes; /* `for_changes`: has a meaning only if the tool changes things */
    } known[] = {
        { "destructiveHint", true, true },
        { "idempotentHint", false, true },
        { "openWorldHint", true, false },
        { "readOnlyHint", false, false },
    };
    bool reads = json_is_true(json_object_get(hints, "readOnlyHint"));

    for (size_t i = 0; i < AL_COUNT(known); i++)
        if ((reads && known[i].for_changes) ||
            json_is_true(json_object_get(hints, known[i].name)) == known[i].standard)
            (void)json_object_del(hints, known[i].name);
}

json_t *al_tool_schema(const struct al_tool *tool, const struct al_tool_defaults *defaults)
{
    json_t *schema;

    if (tool->definition)
        return json_incref((json_t *)tool->definition->input_schema);
    schema = rows_schema(tool->params, tool->nparams, defaults);
    if (tool->is_terse)
        shorten_schema(schema);
    return schema;
}

json_t *al_tool_annotations(const struct al_tool *tool, bool saves)
{
    unsigned effects = al_tool_effects(tool);
    bool destroys = false, saved = false;
    json_t *hints;

    if (tool->definition)
        return json_incref((json_t *)tool->definition->annotations);
    for (size_t i = 0; i < tool->noperations; i++) {
        destroys |= al_operation_destroys(&tool->operations[i], saves);
        saved |= tool->operations[i].asks == AL_ASKS_UNLESS_SAVED;
    }
    /* What asks in a tool that does not ask otherwise cannot be brought back. */
    for (size_t i = 0; i < tool->nstricter && saved; i++)
        destroys |= al_operation_destroys(&tool->stricter[i].operation, saves);
    hints = al_json_object();
    al_json_set(hints, "readOnlyHint", al_json_bool(al_effects_read_only(effects)));
    al_json_set(hints, "destructiveHint", al_json_bool(destroys));
    al_json_set(hints, "idempotentHint", al_json_bool(al_effects_idempotent(effects)));
    al_json_set(hints, "openWorldHint", al_json_bool(al_effects_open_world(effects)));
    if (tool->is_terse)
        shorten_hints(hints);
    return hints;
}
