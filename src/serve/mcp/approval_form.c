// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/approval_form.h"

static bool offers_form(const json_t *capabilities)
{
    const json_t *elicitation = json_object_get(capabilities, "elicitation");

    if (!json_is_object(elicitation))
        return false;
    return json_object_get(elicitation, "form") || !json_object_get(elicitation, "url");
}

enum al_approval_form al_approval_form_for(const json_t *capabilities,
                                           const struct al_revision *revision)
{
    if (!offers_form(capabilities))
        return AL_APPROVAL_FORM_NONE;
    if (revision->era == AL_ERA_MODERN)
        return AL_APPROVAL_FORM_RESULT;
    return revision->names_modes ? AL_APPROVAL_FORM_MODE : AL_APPROVAL_FORM_PLAIN;
}

/* Without a default, so that an untouched form approves nothing. */
static json_t *decision_field(enum al_approval_form form, bool offers_always)
{
    json_t *values = offers_always ? json_pack("[s, s, s]", "once", "always", "reject")
                                   : json_pack("[s, s]", "once", "reject");
    json_t *labels = NULL;

    if (form == AL_APPROVAL_FORM_PLAIN)
        labels = offers_always
                     ? json_pack("[s, s, s]", "Allow once", "Allow for this session", "Reject")
                     : json_pack("[s, s]", "Allow once", "Reject");
    return json_pack("{s:s, s:s, s:s, s:o, s:o*}", "type", "string", "title", "Decision",
                     "description",
                     offers_always ? "once: this call only; always: what the message says, until "
                                     "the session ends; reject: do nothing"
                                   : "once: this call only; reject: do nothing",
                     "enum", values, "enumNames", labels);
}

static json_t *requested_schema(enum al_approval_form form, bool offers_always)
{
    return json_pack("{s:s, s:{s:o, s:{s:s, s:s, s:s, s:i}}, s:[s]}", "type", "object",
                     "properties", "decision", decision_field(form, offers_always), "reason",
                     "type", "string", "title", "Reason", "description",
                     "With reject: what the agent is told (optional)", "maxLength",
                     (int)AL_APPROVAL_REASON_MAX, "required", "decision");
}

json_t *al_approval_form_params(enum al_approval_form form,
                                const struct al_approval_request *request)
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str rest = AL_STR_INIT;

    al_approval_add_heading(request, &message);
    if (request->detail && *request->detail)
        al_str_addf(&message, "\n%s", request->detail);
    al_approval_add_full_summary(request, &rest);
    if (rest.len)
        al_str_addf(&message, "\n\n%s", rest.buf);
    return json_pack("{s:s*, s:o, s:o}", "mode", form == AL_APPROVAL_FORM_PLAIN ? NULL : "form",
                     "message", al_json_stringn(message.buf, message.len), "requestedSchema",
                     requested_schema(form, request->always_covers != NULL));
}

static enum al_answer decision_of(const json_t *result, const json_t *content)
{
    const json_t *decision = json_object_get(content, "decision");
    const char *action = al_json_get_string(result, "action");

    if (!action || strcmp(action, "accept") != 0 || !json_is_string(decision))
        return AL_ANSWER_REJECT;
    if (json_string_length(decision) == 4 && !strcmp(json_string_value(decision), "once"))
        return AL_ANSWER_ONCE;
    if (json_string_length(decision) == 6 && !strcmp(json_string_value(decision), "always"))
        return AL_ANSWER_ALWAYS;
    return AL_ANSWER_REJECT;
}

void al_approval_form_answer(const json_t *result, struct al_approval_answer *ret_answer)
{
    const json_t *content = json_object_get(result, "content");
    const char *reason = al_json_get_string(content, "reason");

    ret_answer->decision = decision_of(result, content);
    if (ret_answer->decision == AL_ANSWER_REJECT && reason)
        al_approval_answer_set_reason(ret_answer, reason);
}
