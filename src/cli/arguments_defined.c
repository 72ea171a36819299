// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments_defined.h"

#include <string.h>

#include "util/nearest.h"

static int unknown_name(const struct al_tool *tool, const json_t *properties, const char *name,
                        struct al_error *err)
{
    struct al_nearest nearest = { .word = name };
    const char *own;
    json_t *schema;

    json_object_foreach((json_t *)properties, own, schema) al_nearest_offer(&nearest, own);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s has no parameter '%s'; %s%s%sairlock tools %s lists them", tool->name,
                        name, nearest.found ? "did you mean " : "",
                        nearest.found ? nearest.found : "", nearest.found ? "? " : "", tool->name);
}

/* Whether a schema allows a type: {"type": "array"}, or {"type": ["array", "null"]}. */
static bool allows(const json_t *schema, const char *wanted)
{
    const json_t *type = json_object_get(schema, "type"), *item;
    size_t i;

    if (json_is_string(type))
        return !strcmp(json_string_value(type), wanted);
    json_array_foreach(type, i, item)
    {
        if (json_is_string(item) && !strcmp(json_string_value(item), wanted))
            return true;
    }
    return false;
}

static json_t *value_of(const json_t *schema, const char *text)
{
    json_t *value = NULL;

    if (!allows(schema, "string"))
        value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    return value ? value : al_json_string(text);
}

/* Go from "object.member" to the member: its schema, name and place.  NULL: it is none. */
static const json_t *go_to_member(const json_t *properties, const char **name, json_t **arguments)
{
    const char *dot = strchr(*name, '.');
    al_auto(al_freep) char *object = dot ? al_strndup(*name, (size_t)(dot - *name)) : NULL;
    const json_t *schema =
        dot ? json_object_get(json_object_get(json_object_get(properties, object), "properties"),
                              dot + 1)
            : NULL;

    if (!schema)
        return NULL;
    if (!json_object_get(*arguments, object))
        al_json_set(*arguments, object, al_json_object());
    *arguments = json_object_get(*arguments, object);
    *name = dot + 1;
    return json_is_object(*arguments) ? schema : NULL;
}

int al_arguments_add_defined(const struct al_tool *tool, const char *name, const char *text,
                             json_t *arguments, struct al_error *err)
{
    const json_t *properties = json_object_get(tool->definition->input_schema, "properties");
    const json_t *schema = json_object_get(properties, name);
    json_t *given;

    if (!schema)
        schema = go_to_member(properties, &name, &arguments);
    if (!schema)
        return unknown_name(tool, properties, name, err);
    given = json_object_get(arguments, name);
    if (!allows(schema, "array")) {
        if (given)
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s is given twice", name);
        al_json_set(arguments, name, value_of(schema, text));
        return 0;
    }
    if (!given)
        al_json_set(arguments, name, al_json_array());
    given = json_object_get(arguments, name);
    if (json_is_array(given)) /* otherwise the server reports it */
        al_json_append(given, value_of(json_object_get(schema, "items"), text));
    return 0;
}
