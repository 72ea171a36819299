// SPDX-License-Identifier: Apache-2.0
#include "upstream/state.h"

#include <stdlib.h>
#include <unistd.h>

#include "proc/cancel.h"
#include "wire/jsonrpc.h"

void al_upstream_signal(struct al_upstream_wait *wait)
{
    const uint64_t one = 1;

    (void)!write(wait->event_fd, &one, sizeof(one));
}

void al_upstream_signal_all(struct al_upstream *server)
{
    for (struct al_upstream_wait *wait = server->waits; wait; wait = wait->next)
        al_upstream_signal(wait);
}

void al_upstream_answer(struct al_upstream_wait *wait)
{
    wait->answered = true;
    wait->id = 0;
    if (wait->asking)
        al_cancel_fire(wait->asking);
    al_upstream_signal(wait);
}

void al_upstream_drop_progress(struct al_upstream_wait *wait)
{
    free((char *)wait->progress.message);
    wait->progress = (struct al_upstream_progress){ .message = NULL };
    wait->has_progress = false;
}

void al_upstream_question_free(struct al_upstream_question *question)
{
    free(question->id);
    json_decref(question->params);
    free(question);
}

void al_upstream_free_questions(struct al_upstream_wait *wait)
{
    struct al_upstream_question *question;

    while ((question = wait->questions)) {
        wait->questions = question->next;
        al_upstream_question_free(question);
    }
    wait->nquestions = 0;
}

const char *al_upstream_offered(const struct al_upstream *server, const char *method)
{
    if (method && server->settings.elicitation && !strcmp(method, "elicitation/create"))
        return "elicitation/create";
    if (method && server->settings.sampling && !strcmp(method, "sampling/createMessage"))
        return "sampling/createMessage";
    return NULL;
}

bool al_upstream_send(struct al_upstream *server, struct al_str *line)
{
    if (!server->is_open || al_message_writer_full(&server->out) ||
        al_message_writer_dead(&server->out))
        return false;
    al_message_writer_send(&server->out, line);
    return true;
}

void al_upstream_add_cancelled(struct al_str *line, unsigned long id, const char *reason)
{
    al_str_addf(line,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":%lu,\"reason\":\"%s\"}}",
                id, reason);
}

void al_upstream_add_request(struct al_str *line, unsigned long id, const char *method,
                             const json_t *params)
{
    al_str_addf(line, "{\"jsonrpc\":\"2.0\",\"id\":%lu,\"method\":\"%s\",\"params\":", id, method);
    al_json_dump(params, false, line);
    al_rpc_end(line);
}

json_t *al_upstream_capabilities(const struct al_upstream *server, bool asks)
{
    json_t *capabilities = al_json_object();

    if (asks && server->settings.elicitation)
        al_json_set(capabilities, "elicitation", al_json_object());
    if (asks && server->settings.sampling)
        al_json_set(capabilities, "sampling", al_json_object());
    return capabilities;
}

json_t *al_upstream_client_info(void)
{
    json_t *info = al_json_object();

    al_json_set(info, "name", al_json_string("airlock"));
    al_json_set(info, "version", al_json_string(AIRLOCK_VERSION));
    return info;
}

json_t *al_upstream_params(const struct al_upstream *server, const struct al_revision *revision,
                           const json_t *params, unsigned long token, bool asks)
{
    json_t *copy = params ? json_copy((json_t *)params) : al_json_object();
    json_t *meta = al_json_object();

    if (revision && revision->era == AL_ERA_MODERN) {
        al_json_set(meta, AL_META_VERSION, al_json_string(revision->name));
        al_json_set(meta, AL_META_CAPABILITIES, al_upstream_capabilities(server, asks));
        al_json_set(meta, AL_META_CLIENT, al_upstream_client_info());
    }
    if (token)
        al_json_set(meta, "progressToken", al_json_int((int64_t)token));
    if (json_object_size(meta) > 0)
        al_json_set(copy, "_meta", meta);
    else
        json_decref(meta);
    return copy;
}
