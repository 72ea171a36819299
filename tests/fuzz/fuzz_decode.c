// SPDX-License-Identifier: Apache-2.0
/*
 * call/tool.h: the arguments of every tool.  The first byte selects the tool, the rest is the JSON.
 * Decoded arguments conform to the published schema; a refusal has a message that is safe to show.
 */
#include "call/private.h"
#include "guard/text.h"
#include "tests/fuzz/fuzz.h"
#include "tools/toolsets.h"

static const struct al_tool_defaults defaults = { .timeout_ms = 30000, .max_bytes = 200000 };

static const struct al_tool *pick(size_t wanted)
{
    const struct al_toolset_registry *all = al_toolsets();
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; all->items[i].tools[k]; k++)
            count++;
    wanted %= count;
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; all->items[i].tools[k]; k++)
            if (!wanted--)
                return all->items[i].tools[k];
    return NULL;
}

static bool has_type(const json_t *value, const char *type)
{
    if (!strcmp(type, "integer")) /* JSON Schema counts 2.0 as an integer */
        return json_is_number(value);
    if (!strcmp(type, "boolean"))
        return json_is_boolean(value);
    if (!strcmp(type, "string"))
        return json_is_string(value);
    if (!strcmp(type, "object"))
        return json_is_object(value);
    return !strcmp(type, "array") && json_is_array(value);
}

static bool is_listed(const json_t *list, const json_t *value)
{
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (json_equal(item, value))
            return true;
    }
    return false;
}

static void require_row(const json_t *row, const json_t *value)
{
    const char *type = al_json_get_string(row, "type");
    const json_t *choices = json_object_get(row, "enum");
    const json_t *minimum = json_object_get(row, "minimum");
    const json_t *least = json_object_get(row, "minItems");
    const json_t *shortest = json_object_get(row, "minLength");

    fuzz_require(type && has_type(value, type));
    fuzz_require(!choices || is_listed(choices, value));
    fuzz_require(!minimum || json_number_value(value) >= json_number_value(minimum));
    fuzz_require(!least || (json_int_t)json_array_size(value) >= json_integer_value(least));
    fuzz_require(!shortest ||
                 (json_int_t)json_string_length(value) >= json_integer_value(shortest));
}

/* A client that validates against the schema accepts everything that is decoded. */
static void require_schema(const struct al_tool *tool, json_t *arguments)
{
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(tool, &defaults);
    const json_t *properties = json_object_get(schema, "properties"), *name;
    const char *given;
    json_t *value;
    size_t i;

    json_object_foreach(arguments, given, value)
        require_row(json_object_get(properties, given), value);
    json_array_foreach(json_object_get(schema, "required"), i, name)
        fuzz_require(json_object_get(arguments, json_string_value(name)));
}

static void require_operation(const struct al_tool *tool, const void *args)
{
    const struct al_session session = { .defaults = defaults };
    const struct al_call call = { .session = &session,
                                  .tool = tool,
                                  .args = (void *)(uintptr_t)args };
    const struct al_operation *op = al_tool_select(tool, &call, args);
    al_auto(al_str_clear) struct al_str summary = AL_STR_INIT;
    al_auto(al_freep) char *line = NULL;

    fuzz_require(op >= tool->operations && op < tool->operations + tool->noperations);
    fuzz_require((op->effects & ~al_tool_effects(tool)) == 0);
    if (!tool->summarize)
        return;
    tool->summarize(&call, &summary);
    line = al_text_sanitize_line(summary.buf);
    fuzz_require(summary.len > 0);
    fuzz_require(fuzz_is_safe_line(line));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    const struct al_tool *tool = pick(fuzz_byte(&input));
    al_auto(al_freep) char *text = fuzz_bytes(&input);
    al_auto(al_json_decrefp) json_t *arguments =
        json_loadb(text, input.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    al_auto(al_freep) void *args = al_malloc(tool->args_size);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    if (input.len && !arguments)
        return 0;
    r = al_tool_decode(tool, arguments, &defaults, args, &err);
    if (r == 0) {
        require_schema(tool, arguments);
        require_operation(tool, args);
        al_tool_args_clear(tool, args);
    } else {
        fuzz_require(r == AL_ERR_BAD_ARGS && err.status == r);
        fuzz_require(fuzz_is_safe_line(err.message));
    }
    return 0;
}
