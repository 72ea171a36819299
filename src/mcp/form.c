// SPDX-License-Identifier: Apache-2.0
#include "mcp/form.h"

bool al_form_usable(const json_t *capabilities)
{
    const json_t *elicitation = json_object_get(capabilities, "elicitation");

    if (!json_is_object(elicitation))
        return false;
    return json_object_get(elicitation, "form") || !json_object_get(elicitation, "url");
}

static json_t *strings(const char *const *items)
{
    json_t *array = al_json_array();

    for (; *items; items++)
        al_json_append(array, al_json_string(*items));
    return array;
}

/* One required field without a default: an answer nobody gave cannot look like a yes. */
static json_t *requested_schema(enum al_form form)
{
    static const char *const values[] = { "once", "always", "reject", NULL };
    static const char *const labels[] = { "Allow once", "Allow for this session", "Reject", NULL };
    static const char *const required[] = { "decision", NULL };
    json_t *schema = al_json_object(), *properties = al_json_object();
    json_t *decision = al_json_object();

    al_json_set(decision, "type", al_json_string("string"));
    al_json_set(decision, "title", al_json_string("Decision"));
    al_json_set(decision, "description",
                al_json_string("once: this call only; always: this kind of call in this repository "
                               "until the session ends; reject: do nothing"));
    al_json_set(decision, "enum", strings(values));
    if (form == AL_FORM_PLAIN)
        al_json_set(decision, "enumNames", strings(labels));
    al_json_set(properties, "decision", decision);
    al_json_set(schema, "type", al_json_string("object"));
    al_json_set(schema, "properties", properties);
    al_json_set(schema, "required", strings(required));
    return schema;
}

json_t *al_form_params(enum al_form form, const struct al_approval_request *request)
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    json_t *params = al_json_object();

    al_str_adds(&message, request->summary);
    if (request->detail && *request->detail)
        al_str_addf(&message, "\n\n%s", request->detail);
    if (form != AL_FORM_PLAIN)
        al_json_set(params, "mode", al_json_string("form"));
    al_json_set(params, "message", al_json_stringn(message.buf, message.len));
    al_json_set(params, "requestedSchema", requested_schema(form));
    return params;
}

enum al_answer al_form_answer(const json_t *result)
{
    const json_t *decision = json_object_get(json_object_get(result, "content"), "decision");
    const char *action = al_json_get_string(result, "action");

    if (!action || strcmp(action, "accept") != 0 || !json_is_string(decision))
        return AL_ANSWER_REJECT;
    if (json_string_length(decision) == 4 && !strcmp(json_string_value(decision), "once"))
        return AL_ANSWER_ONCE;
    if (json_string_length(decision) == 6 && !strcmp(json_string_value(decision), "always"))
        return AL_ANSWER_ALWAYS;
    return AL_ANSWER_REJECT;
}
