// SPDX-License-Identifier: Apache-2.0
/* The result of a call in MCP's JSON, and the schema of what it has. */
#include <inttypes.h>
#include <stdlib.h>

#include "call/private.h"

void al_result_clear(struct al_result *result)
{
    al_str_clear(&result->text);
    al_str_clear(&result->notes);
    json_decref(result->structured);
    json_decref(result->content);
    json_decref(result->meta);
    al_error_clear(&result->error);
    *result = AL_RESULT_INIT;
}

static void write_object(struct al_result *result)
{
    if (!result->text_is_object)
        return;
    al_str_reset(&result->text);
    al_json_dump(result->structured, false, &result->text);
}

void al_result_set_structured(struct al_result *result, json_t *object)
{
    json_decref(result->structured);
    result->structured = object;
    result->text_is_object = true;
    write_object(result);
}

json_t *al_strings_of(const struct al_strv *strings, size_t first)
{
    json_t *list = al_json_array();

    for (size_t i = first; i < strings->count; i++)
        al_json_append(list, al_json_string(strings->items[i]));
    return list;
}

void al_result_set(struct al_result *result, const char *name, json_t *value)
{
    if (!result->structured) {
        al_result_set_structured(result, al_json_object());
        result->is_unfinished = true;
    }
    al_json_set(result->structured, name, value);
}

void al_result_finish(struct al_result *result, bool is_done)
{
    if (is_done) {
        write_object(result);
    } else if (result->is_unfinished) { /* the members that came until it failed */
        json_decref(result->structured);
        result->structured = NULL;
        result->text_is_object = false;
        al_str_reset(&result->text);
    }
}

void al_result_note(struct al_result *result, const char *line)
{
    if (result->notes.len)
        al_str_addc(&result->notes, '\n');
    al_str_adds(&result->notes, line);
}

json_t *al_result_error_json(const struct al_result *result)
{
    const struct al_error *error = &result->error;
    const char *name = al_code_name(error->code);
    json_t *object = al_json_object();

    al_json_set(object, "kind", al_json_string(al_status_kind(result->status)));
    al_json_set(object, "code",
                error->code == AL_CODE_NONE ? json_null() : al_json_int((int64_t)error->code));
    al_json_set(object, "name", name ? al_json_string(name) : json_null());
    al_json_set(object, "reason", error->reason ? al_json_string(error->reason) : json_null());
    al_json_set(object, "message", al_json_string(error->message ? error->message : ""));
    return object;
}

static json_t *text_item(const struct al_str *text)
{
    json_t *item = al_json_object();

    al_json_set(item, "type", al_json_string("text"));
    al_json_set(item, "text", al_json_stringn(text->buf, text->len));
    return item;
}

static json_t *content_of(const struct al_result *result)
{
    json_t *content = result->content ? json_copy(result->content) : al_json_array();

    if (!result->content)
        al_json_append(content, text_item(&result->text));
    if (result->notes.len)
        al_json_append(content, text_item(&result->notes));
    return content;
}

static json_t *meta_of(const struct al_result *result)
{
    json_t *meta = al_json_object(), *facts = al_json_object();

    al_json_set(facts, "truncated", al_json_bool(result->truncated));
    al_json_set(facts, "exit_code", al_json_int(result->exit_code));
    al_json_set(facts, "duration_ms", al_json_int(result->duration_ms));
    al_json_set(meta, "airlock/result", facts);
    if (result->status != AL_OK)
        al_json_set(meta, "airlock/error", al_result_error_json(result));
    if (result->meta)
        (void)json_object_update(meta, result->meta);
    return meta;
}

/* Append an object without its closing brace. */
static void add_open(const json_t *object, struct al_str *out)
{
    al_json_dump(object, false, out);
    al_str_truncate(out, out->len - 1);
}

void al_result_dump(const struct al_result *result, const struct al_result_extra *extra,
                    struct al_str *out)
{
    al_auto(al_json_decrefp) json_t *object = al_json_object(), *meta = meta_of(result);

    al_json_set(object, "content", content_of(result));
    if (result->structured)
        al_json_set(object, "structuredContent", json_incref(result->structured));
    if (result->status != AL_OK)
        al_json_set(object, "isError", al_json_bool(true));
    add_open(object, out);
    al_str_addf(out, "%s%s,\"_meta\":", extra ? "," : "", extra ? extra->members : "");
    add_open(meta, out);
    al_str_addf(out, "%s%s}}", extra ? "," : "", extra ? extra->meta : "");
}

/* --- The output schema --- */

static json_t *words_of(const char *text)
{
    al_auto(al_freep) char *copy = al_strdup(text);
    json_t *schema = al_schema_typed("string"), *words = *text ? al_json_array() : NULL;
    char *save = NULL;

    for (char *word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save))
        al_json_append(words, al_json_string(word));
    if (words)
        al_json_set(schema, "enum", words);
    return schema;
}

static json_t *schema_of(const json_t *example);

/* Add the members to `properties`, empty ones if it is a form of several, and those that are always
 * there to `required`. */
static void add_members(const json_t *example, bool empty, json_t *properties, json_t *required)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)example, name, value)
    {
        const size_t len = strcspn(name, "?");
        al_auto(al_freep) char *plain = al_strndup(name, len);

        al_json_set(properties, plain, empty ? al_json_object() : schema_of(value));
        if (!name[len] && required)
            al_json_append(required, al_json_string(plain));
    }
}

static json_t *object_of(const json_t *example, bool is_form)
{
    json_t *schema = is_form ? al_json_object() : al_schema_typed("object"),
           *properties = al_json_object(), *required = al_json_array();

    add_members(example, is_form, properties, required);
    al_json_set(schema, "properties", properties);
    al_json_set(schema, "required", required);
    return schema;
}

static json_t *schema_of(const json_t *example)
{
    json_t *schema;

    if (json_is_object(example))
        return object_of(example, false);
    if (json_is_string(example))
        return words_of(json_string_value(example));
    if (!json_is_array(example))
        return al_schema_typed(json_is_boolean(example)   ? "boolean"
                               : json_is_integer(example) ? "integer"
                                                          : "number");
    schema = al_schema_typed("array");
    al_json_set(schema, "items", schema_of(json_array_get(example, 0)));
    return schema;
}

static json_t *one_of(const json_t *forms)
{
    json_t *schema = al_schema_typed("object"), *all = al_json_object(), *any = al_json_array();
    const json_t *form;
    size_t i;

    json_array_foreach(forms, i, form)
    {
        add_members(form, false, all, NULL);
        al_json_append(any, object_of(form, true));
    }
    al_json_set(schema, "properties", all);
    al_json_set(schema, "anyOf", any);
    return schema;
}

json_t *al_tool_output_schema(const struct al_tool *tool)
{
    al_auto(al_json_decrefp) json_t *example = NULL;

    if (!tool->output_schema)
        return json_incref(json_object_get(tool->definition, "outputSchema"));
    example = json_loads(tool->output_schema, JSON_REJECT_DUPLICATES, NULL);
    if (!example)
        abort(); /* a constant; the table test parses every one */
    return json_is_array(example) ? one_of(example) : schema_of(example);
}
