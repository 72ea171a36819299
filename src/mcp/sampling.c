// SPDX-License-Identifier: Apache-2.0
#include "mcp/sampling.h"

bool al_sampling_usable(const json_t *capabilities)
{
    return json_is_object(json_object_get(capabilities, "sampling"));
}

static json_t *params_of(const struct al_sampling_request *request)
{
    json_t *params = al_json_object(), *messages = al_json_array();
    json_t *message = al_json_object(), *content = al_json_object();

    al_json_set(content, "type", al_json_string("text"));
    al_json_set(content, "text", al_json_string(request->task));
    al_json_set(message, "role", al_json_string("user"));
    al_json_set(message, "content", content);
    al_json_append(messages, message);
    al_json_set(params, "messages", messages);
    al_json_set(params, "systemPrompt", al_json_string(request->role));
    al_json_set(params, "maxTokens", al_json_int(request->max_tokens));
    return params;
}

/* The text in the result of sampling/createMessage.  NULL: it holds no text, or the text was cut
 * at maxTokens.  Caller frees. */
static char *text_of(const json_t *result)
{
    const char *role = al_json_get_string(result, "role");
    const char *stop = al_json_get_string(result, "stopReason");
    const json_t *content = json_object_get(result, "content");
    const char *type, *text;

    if (json_is_array(content) && json_array_size(content) == 1) /* from 2025-11-25 */
        content = json_array_get(content, 0);
    type = al_json_get_string(content, "type");
    text = al_json_get_string(content, "text");
    if (!role || strcmp(role, "assistant") != 0 || !type || strcmp(type, "text") != 0 || !text ||
        strlen(text) != json_string_length(json_object_get(content, "text")) ||
        (stop && !strcmp(stop, "maxTokens")))
        return NULL;
    return al_strdup(text);
}

int al_sampling_ask(struct al_client_requests *requests, struct al_message_sink *sink,
                    const struct al_sampling_request *request, struct al_cancel *cancel,
                    char **ret_text, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *params = params_of(request);
    al_auto(al_json_decrefp) json_t *result = NULL;
    const struct al_client_question question = { .method = "sampling/createMessage",
                                                 .params = params,
                                                 .timeout_ms = request->timeout_ms };
    int r = al_client_requests_ask(requests, sink, &question, cancel, &result, err);

    if (r == 0)
        *ret_text = result ? text_of(result) : NULL;
    return r;
}
