// SPDX-License-Identifier: Apache-2.0
#include "upstream/schema.h"

#include "upstream/limits.h"
#include "wire/jsonrpc.h"

/* What the value of a keyword has to be. */
enum shape {
    SHAPE_STRING,
    SHAPE_BOOL,
    SHAPE_NUMBER,
    SHAPE_COUNT, /* an integer that is not negative */
    SHAPE_TYPES, /* a type, or an array of types */
    SHAPE_NAMES, /* an array of strings */
    SHAPE_VALUES,
    SHAPE_PATTERN,
    SHAPE_REFERENCE,
    SHAPE_SCHEMA,
    SHAPE_SCHEMAS,  /* an array of schemas */
    SHAPE_ITEMS,    /* a schema, or an array of schemas */
    SHAPE_MEMBERS,  /* an object of schemas */
    SHAPE_PATTERNS, /* an object of schemas whose names are patterns */
};

static const struct {
    const char *name;
    enum shape shape;
} keywords[] = {
    { "$ref", SHAPE_REFERENCE },
    { "$id", SHAPE_STRING },
    { "$schema", SHAPE_STRING },
    { "title", SHAPE_STRING },
    { "description", SHAPE_STRING },
    { "format", SHAPE_STRING },
    { "type", SHAPE_TYPES },
    { "enum", SHAPE_VALUES },
    { "required", SHAPE_NAMES },
    { "pattern", SHAPE_PATTERN },
    { "minimum", SHAPE_NUMBER },
    { "maximum", SHAPE_NUMBER },
    { "exclusiveMinimum", SHAPE_NUMBER },
    { "exclusiveMaximum", SHAPE_NUMBER },
    { "multipleOf", SHAPE_NUMBER },
    { "minLength", SHAPE_COUNT },
    { "maxLength", SHAPE_COUNT },
    { "minItems", SHAPE_COUNT },
    { "maxItems", SHAPE_COUNT },
    { "minProperties", SHAPE_COUNT },
    { "maxProperties", SHAPE_COUNT },
    { "uniqueItems", SHAPE_BOOL },
    { "allOf", SHAPE_SCHEMAS },
    { "anyOf", SHAPE_SCHEMAS },
    { "oneOf", SHAPE_SCHEMAS },
    { "prefixItems", SHAPE_SCHEMAS },
    { "items", SHAPE_ITEMS },
    { "not", SHAPE_SCHEMA },
    { "if", SHAPE_SCHEMA },
    { "then", SHAPE_SCHEMA },
    { "else", SHAPE_SCHEMA },
    { "contains", SHAPE_SCHEMA },
    { "propertyNames", SHAPE_SCHEMA },
    { "additionalItems", SHAPE_SCHEMA },
    { "additionalProperties", SHAPE_SCHEMA },
    { "unevaluatedItems", SHAPE_SCHEMA },
    { "unevaluatedProperties", SHAPE_SCHEMA },
    { "properties", SHAPE_MEMBERS },
    { "$defs", SHAPE_MEMBERS },
    { "definitions", SHAPE_MEMBERS },
    { "dependentSchemas", SHAPE_MEMBERS },
    { "patternProperties", SHAPE_PATTERNS },
};

/* A schema that is being checked. */
struct check {
    const json_t *root;
    bool patterns;
};

static bool is_schema(const struct check *check, const json_t *schema);

/* --- Values of keywords --- */

static bool is_type(const json_t *value)
{
    static const char *const types[] = { "object",  "array",   "string", "number",
                                         "integer", "boolean", "null" };

    for (size_t i = 0; json_is_string(value) && i < AL_COUNT(types); i++)
        if (!strcmp(json_string_value(value), types[i]))
            return true;
    return false;
}

static bool are_all(const json_t *array, bool (*test)(const json_t *item))
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!test(json_array_get(array, i)))
            return false;
    return json_is_array(array);
}

static bool is_string(const json_t *value)
{
    return json_is_string(value);
}

static bool are_types(const json_t *value)
{
    return is_type(value) || (json_array_size(value) > 0 && are_all(value, is_type));
}

/* The value that a JSON pointer names; NULL: none, or it has an escape that nobody needs. */
static const json_t *find_pointer(const json_t *root, const char *pointer)
{
    while (root && *pointer == '/') {
        const char *from = ++pointer;
        const size_t len = strcspn(from, "/");
        al_auto(al_freep) char *name = al_strndup(from, len);

        if (strpbrk(name, "~%"))
            return NULL;
        root = json_object_get(root, name); /* schemas in an array are rarely named */
        pointer += len;
    }
    return *pointer ? NULL : root;
}

static bool is_reference(const struct check *check, const json_t *value)
{
    const char *text = json_string_value(value);
    const json_t *found = text && *text == '#' ? find_pointer(check->root, text + 1) : NULL;

    return json_is_object(found) || json_is_boolean(found);
}

static bool are_schemas(const struct check *check, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!is_schema(check, json_array_get(array, i)))
            return false;
    return json_array_size(array) > 0;
}

static bool are_members(const struct check *check, json_t *object)
{
    const char *name;
    json_t *member;

    json_object_foreach(object, name, member)
    {
        if (!is_schema(check, member))
            return false;
    }
    return json_is_object(object);
}

static bool has_shape(const struct check *check, json_t *value, enum shape shape)
{
    switch (shape) {
    case SHAPE_STRING:
        return json_is_string(value);
    case SHAPE_BOOL:
        return json_is_boolean(value);
    case SHAPE_NUMBER:
        return json_is_number(value);
    case SHAPE_COUNT:
        return json_is_integer(value) && json_integer_value(value) >= 0;
    case SHAPE_TYPES:
        return are_types(value);
    case SHAPE_NAMES:
        return are_all(value, is_string);
    case SHAPE_VALUES:
        return json_array_size(value) > 0;
    case SHAPE_PATTERN:
        return json_is_string(value) && check->patterns;
    case SHAPE_REFERENCE:
        return is_reference(check, value);
    case SHAPE_SCHEMA:
        return is_schema(check, value);
    case SHAPE_SCHEMAS:
        return are_schemas(check, value);
    case SHAPE_ITEMS:
        return json_is_array(value) ? are_schemas(check, value) : is_schema(check, value);
    case SHAPE_MEMBERS:
        return are_members(check, value);
    case SHAPE_PATTERNS:
        return are_members(check, value) && check->patterns;
    }
    return false;
}

static bool is_schema(const struct check *check, const json_t *schema)
{
    if (!json_is_object(schema))
        return json_is_boolean(schema);
    for (size_t i = 0; i < AL_COUNT(keywords); i++) {
        json_t *value = json_object_get(schema, keywords[i].name);

        if (value && !has_shape(check, value, keywords[i].shape))
            return false;
    }
    return true;
}

const char *al_upstream_schema_problem(json_t *schema, bool patterns)
{
    const struct check check = { .root = schema, .patterns = patterns };
    const char *type = al_json_get_string(schema, "type");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!json_is_object(schema))
        return "is no object";
    if (al_rpc_is_deeper(schema, AL_UPSTREAM_SCHEMA_MAX_DEPTH))
        return "is nested too deeply";
    al_json_dump(schema, false, &text);
    if (text.len > AL_UPSTREAM_SCHEMA_MAX_BYTES)
        return "is too large";
    if (!type || strcmp(type, "object") != 0)
        return "does not have the type object";
    return is_schema(&check, schema) ? NULL : "is no JSON Schema";
}
