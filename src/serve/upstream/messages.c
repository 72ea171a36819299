// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "proc/cancel.h"
#include "serve/upstream/private.h"

void al_upstream_signal(struct al_upstream_wait *wait)
{
    (void)eventfd_write(wait->event_fd, 1);
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

void al_upstream_add_request(struct al_str *line, unsigned long id, const char *method,
                             const json_t *params)
{
    al_str_addf(line, "{\"jsonrpc\":\"2.0\",\"id\":%lu,\"method\":\"%s\",\"params\":", id, method);
    al_json_dump(params, false, line);
    al_rpc_end(line);
}

json_t *al_upstream_capabilities(const struct al_upstream *server, bool asks)
{
    return json_pack("{s:o*, s:o*}", "elicitation",
                     asks && server->settings.elicitation ? al_json_object() : NULL, "sampling",
                     asks && server->settings.sampling ? al_json_object() : NULL);
}

json_t *al_upstream_client_info(void)
{
    return json_pack("{s:s, s:s}", "name", "airlock", "version", AIRLOCK_VERSION);
}

void al_upstream_set_meta(const struct al_upstream *server, const struct al_revision *revision,
                          json_t *params, unsigned long token, bool asks)
{
    json_t *meta = al_json_object();

    if (revision && revision->era == AL_ERA_MODERN) {
        al_json_set(meta, AL_META_VERSION, al_json_string(revision->name));
        al_json_set(meta, AL_META_CAPABILITIES, al_upstream_capabilities(server, asks));
        al_json_set(meta, AL_META_CLIENT, al_upstream_client_info());
    }
    if (token)
        al_json_set(meta, "progressToken", al_json_int((int64_t)token));
    if (json_object_size(meta) > 0)
        al_json_set(params, "_meta", json_incref(meta));
    else
        (void)json_object_del(params, "_meta");
    json_decref(meta);
}

/* A message that nobody asked for.  A server that sends too many uses up a core. */
static void count_useless(struct al_upstream_link *link)
{
    const int64_t now_ms = al_clock_ms();

    if (now_ms - link->useless_since_ms > AL_UPSTREAM_USELESS_PERIOD_MS) {
        link->useless_since_ms = now_ms;
        link->nuseless = 0;
    }
    if (++link->nuseless > AL_UPSTREAM_USELESS_MAX)
        link->broken = "floods airlock with messages that nobody asked for";
}

/* An id that airlock made; 0: another one. */
static unsigned long id_number(const char *id)
{
    const size_t len = id ? strlen(id) : 0;

    if (!len || len > 18 || *id == '0' || strspn(id, "0123456789") != len)
        return 0;
    return (unsigned long)strtoull(id, NULL, 10);
}

static struct al_upstream_wait *find_wait(struct al_upstream *server, unsigned long id)
{
    struct al_upstream_wait *wait = server->waits;

    while (wait && (!id || wait->id != id))
        wait = wait->next;
    return wait;
}

/* --- Responses --- */

/* Move a member out of the message, so that only the new owner's thread counts its references. */
static json_t *take_member(json_t *body, const char *name)
{
    json_t *member = json_incref(json_object_get(body, name));

    (void)json_object_del(body, name);
    return member;
}

static char *error_text(const json_t *error)
{
    char *text =
        al_upstream_line(al_json_get_string(error, "message"), AL_UPSTREAM_QUOTED_MAX_BYTES);

    return text ? text : al_strdup("no message");
}

static int error_code(const json_t *error)
{
    const json_int_t code = json_integer_value(json_object_get(error, "code"));

    return code > -1000000 && code < 1000000 ? (int)code : 0;
}

/* Caller holds the lock. */
static void take_answer(struct al_upstream *server, struct al_upstream_wait *wait,
                        const struct al_rpc_message *message)
{
    json_t *error = json_object_get(message->body, "error");

    wait->bytes = message->text.len;
    if (error || message->has_duplicates) {
        wait->code = error_code(error);
        wait->data = take_member(error, "data");
        wait->message = error_text(error);
        (void)al_error_set(&wait->failure, AL_ERR_EXECUTION,
                           message->has_duplicates
                               ? "MCP server '%s' answered with the same name twice in one object"
                               : "MCP server '%s' answered with error %d: %s",
                           server->settings.name, wait->code, wait->message);
    } else {
        wait->result = take_member(message->body, "result");
    }
    server->has_answered |= !wait->is_own;
    al_upstream_answer(wait);
}

static void take_response(struct al_upstream_link *link, const struct al_rpc_message *message)
{
    struct al_upstream *server = link->server;
    const unsigned long id = id_number(message->id);
    struct al_upstream_wait *wait;

    if (id && id == link->listen_id) {
        link->listen_id = 0;
        return;
    }
    (void)pthread_mutex_lock(&server->lock);
    wait = find_wait(server, id);
    if (wait)
        take_answer(server, wait, message);
    (void)pthread_mutex_unlock(&server->lock);
    if (!wait)
        count_useless(link);
}

/* --- Notifications --- */

static void take_progress(struct al_upstream *server, const struct al_rpc_message *message)
{
    static const char *const path[] = { "params", "progressToken", NULL };
    al_auto(al_freep) char *token = al_rpc_token(message, path);
    const json_t *progress = json_object_get(message->params, "progress");
    const json_t *total = json_object_get(message->params, "total");
    struct al_upstream_wait *wait;

    if (!json_is_number(progress))
        return;
    al_hold(&server->lock);
    wait = find_wait(server, id_number(token));
    if (wait) {
        al_upstream_drop_progress(wait);
        wait->has_progress = true;
        wait->progress = (struct al_upstream_progress){
            .progress = json_number_value(progress),
            .total = json_is_number(total) ? json_number_value(total) : -1,
            .message = al_upstream_line(al_json_get_string(message->params, "message"),
                                        AL_UPSTREAM_QUOTED_MAX_BYTES),
        };
        al_upstream_signal(wait);
    }
}

/* Caller holds the lock.  Remove the question from those that wait. */
static void remove_question(struct al_upstream_wait *wait, const char *id)
{
    struct al_upstream_question **at = &wait->questions, *question;

    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    question = *at;
    if (!question)
        return;
    *at = question->next;
    wait->nquestions--;
    al_upstream_question_free(question);
}

/* The server wants no answer to its question any more. */
static void take_withdrawal(struct al_upstream *server, const struct al_rpc_message *message)
{
    static const char *const path[] = { "params", "requestId", NULL };
    al_auto(al_freep) char *id = al_rpc_token(message, path);

    if (!id)
        return;
    al_hold(&server->lock);
    for (struct al_upstream_wait *wait = server->waits; wait; wait = wait->next) {
        if (wait->asking_id && !strcmp(wait->asking_id, id))
            al_cancel_fire(wait->asking);
        else
            remove_question(wait, id);
    }
}

static void take_change(struct al_upstream_link *link)
{
    struct al_upstream *server = link->server;

    link->list_changed = true;
    al_hold(&server->lock);
    server->list_is_old = true;
}

static void take_notification(struct al_upstream_link *link, const struct al_rpc_message *message)
{
    if (!strcmp(message->method, "notifications/progress"))
        take_progress(link->server, message);
    else if (!strcmp(message->method, "notifications/tools/list_changed"))
        take_change(link);
    else if (!strcmp(message->method, "notifications/cancelled"))
        take_withdrawal(link->server, message);
    count_useless(link); /* nobody has to send any number of these */
}

/* --- Requests --- */

void al_upstream_reply(struct al_upstream *server, const char *id, json_t *result,
                       enum al_rpc_code code, const char *problem)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (result) {
        al_rpc_begin_result(&line, id);
        al_json_dump(result, false, &line);
        al_rpc_end(&line);
    } else {
        al_rpc_add_error(&line, id, code, problem);
    }
    json_decref(result);
    al_hold(&server->lock);
    (void)al_upstream_send(server, &line);
}

/* Hand the question to the oldest call that takes one: the message does not say which call it
 * belongs to.  False: there is none, or too many questions wait already. */
static bool hand_over(struct al_upstream *server, const struct al_rpc_message *message,
                      const char *method)
{
    struct al_upstream_question *question;
    struct al_upstream_question **at;
    struct al_upstream_wait *wait;

    al_hold(&server->lock);
    for (wait = server->waits; wait; wait = wait->next)
        if (wait->id && wait->asks && wait->nquestions < AL_UPSTREAM_QUESTIONS_MAX)
            break;
    if (wait) {
        question = al_calloc(1, sizeof(*question));
        question->id = al_strdup(message->id);
        question->method = method;
        question->params = take_member(message->body, "params");
        for (at = &wait->questions; *at; at = &(*at)->next)
            ;
        *at = question;
        wait->nquestions++;
        al_upstream_signal(wait);
    }
    return wait != NULL;
}

static void take_request(struct al_upstream_link *link, const struct al_rpc_message *message)
{
    struct al_upstream *server = link->server;
    const char *method = al_upstream_offered(server, message->method);

    count_useless(link);
    if (link->revision && link->revision->era == AL_ERA_MODERN)
        return; /* such a server sends no requests, and its clients no responses */
    if (!strcmp(message->method, "ping"))
        al_upstream_reply(server, message->id, al_json_object(), AL_RPC_OK, NULL);
    else if (!method)
        al_upstream_reply(server, message->id, NULL, AL_RPC_METHOD_NOT_FOUND,
                          "the client does not offer this");
    else if (!json_is_object(message->params) ||
             al_rpc_is_deeper(message->params, AL_UPSTREAM_RESULT_MAX_DEPTH))
        al_upstream_reply(server, message->id, NULL, AL_RPC_INVALID_PARAMS,
                          "params must be an object that is not nested too deeply");
    else if (!hand_over(server, message, method))
        al_upstream_reply(server, message->id, NULL, AL_RPC_INVALID_REQUEST,
                          "no call is waiting for an answer");
}

/* --- Lines --- */

static void take_garbage(struct al_upstream_link *link, const char *line, size_t len)
{
    al_auto(al_freep) char *text =
        al_strndup(line, len < AL_UPSTREAM_QUOTED_MAX_BYTES ? len : AL_UPSTREAM_QUOTED_MAX_BYTES);

    if (!link->garbage)
        link->garbage = al_upstream_line(text, AL_UPSTREAM_QUOTED_MAX_BYTES);
    count_useless(link);
}

void al_upstream_take_line(struct al_upstream_link *link, const char *line, size_t len)
{
    al_auto(al_rpc_doc_clear) struct al_rpc_doc doc = AL_RPC_DOC_INIT;
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    const char *problem;
    enum al_rpc_code code = al_rpc_parse(line, len, &doc, &problem);

    if (code == AL_RPC_INVALID_REQUEST)
        al_upstream_take_unreadable(link, line, len, "a message of too many values");
    else if (code != AL_RPC_OK)
        take_garbage(link, line, len);
    if (code != AL_RPC_OK)
        return;
    while (!link->broken && al_rpc_doc_next(&doc, &cursor, &message)) {
        switch (message.kind) {
        case AL_RPC_RESPONSE:
            take_response(link, &message);
            break;
        case AL_RPC_NOTIFICATION:
            take_notification(link, &message);
            break;
        case AL_RPC_REQUEST:
            take_request(link, &message);
            break;
        case AL_RPC_INVALID:
            take_garbage(link, line, len);
            break;
        }
    }
}

/* Whether a line that cannot be parsed may be the answer to this request.  Its id may lie behind
 * what was kept of it. */
static bool may_answer(struct al_raw_json id, unsigned long request)
{
    al_auto(al_freep) char *text = id.at ? al_strndup(id.at, id.len) : NULL;

    return request && (!text || id_number(text) == request);
}

/* If its id is lost, every call in flight may be the one, and none of them may wait in vain.  A
 * message with a method is no answer. */
void al_upstream_take_unreadable(struct al_upstream_link *link, const char *line, size_t len,
                                 const char *problem)
{
    struct al_upstream *server = link->server;
    const struct al_raw_json id = al_raw_json_member((struct al_raw_json){ line, len }, "id");

    count_useless(link);
    if (al_raw_json_member((struct al_raw_json){ line, len }, "method").at)
        return;
    al_hold(&server->lock);
    for (struct al_upstream_wait *wait = server->waits; wait; wait = wait->next)
        if ((!wait->is_own || wait->is_large) && may_answer(id, wait->id)) {
            wait->message = al_strdup("the answer is too large");
            (void)al_error_set(&wait->failure, AL_ERR_EXECUTION, "MCP server '%s' sent %s",
                               server->settings.name, problem);
            al_upstream_answer(wait);
        }
}
