// SPDX-License-Identifier: Apache-2.0
#include "toolsets/upstream/question.h"

#include <string.h>

#include "guard/text.h"

/** The most fields of a form, and the longest schema as JSON. */
#define FIELDS_MAX       64u
#define SCHEMA_MAX_BYTES 65536u

static bool is_read_by_users(const char *name)
{
    return !strcmp(name, "title") || !strcmp(name, "description") || !strcmp(name, "enumNames");
}

/* A copy in which text that users read is safe.  Caller owns the reference. */
static json_t *safe_copy(const json_t *value, bool is_read)
{
    const char *name;
    json_t *copy, *member;
    size_t i;

    if (is_read && json_is_string(value)) {
        al_auto(al_freep) char *safe = al_text_join_shown_lines(json_string_value(value));

        return al_json_string(safe);
    }
    if (json_is_array(value)) {
        copy = al_json_array();
        json_array_foreach(value, i, member) al_json_append(copy, safe_copy(member, is_read));
        return copy;
    }
    if (!json_is_object(value))
        return json_incref((json_t *)value);
    copy = al_json_object();
    json_object_foreach((json_t *)value, name, member)
    {
        al_json_set(copy, name, safe_copy(member, is_read_by_users(name)));
    }
    return copy;
}

/* A copy of the schema; NULL: it is too large, or none.  Caller owns the reference. */
static json_t *safe_schema(const json_t *schema)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    const json_t *properties = json_object_get(schema, "properties");

    if (!json_is_object(schema) || json_object_size(properties) > FIELDS_MAX)
        return NULL;
    al_json_dump(schema, true, &json);
    if (json.len > SCHEMA_MAX_BYTES)
        return NULL;
    return safe_copy(schema, false);
}

json_t *al_question_params(const json_t *params, const char *server, const char *tool)
{
    const char *asked = al_json_get_string(params, "message");
    const char *mode = al_json_get_string(params, "mode");
    al_auto(al_json_decrefp) json_t *schema =
        safe_schema(json_object_get(params, "requestedSchema"));
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    json_t *passed;

    if (!asked || !schema || (mode && strcmp(mode, "form") != 0))
        return NULL;
    al_str_addf(&message,
                "The MCP server %s asks this, while it runs %s. It is not a question of "
                "airlock's:\n",
                server, tool);
    al_text_add_indented(&message, asked, false);
    passed = al_json_object();
    if (mode)
        al_json_set(passed, "mode", al_json_string("form"));
    al_json_set(passed, "message", al_json_stringn(message.buf, message.len));
    al_json_set(passed, "requestedSchema", al_take(&schema));
    return passed;
}
