// SPDX-License-Identifier: Apache-2.0
#include "serve/upstream/private.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "proc/cancel.h"

/* --- What the server says, and what it is told --- */

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

/* Caller holds the lock.  Free the newest progress. */
static void drop_progress(struct al_upstream_wait *wait)
{
    free((char *)wait->progress.message);
    wait->progress = (struct al_upstream_progress){ .message = NULL };
    wait->has_progress = false;
}

static void free_question(struct al_upstream_question *question)
{
    free(question->id);
    json_decref(question->params);
    free(question);
}

/* Caller holds the lock.  Free the questions that wait. */
static void free_questions(struct al_upstream_wait *wait)
{
    struct al_upstream_question *question;

    while ((question = wait->questions)) {
        wait->questions = question->next;
        free_question(question);
    }
    wait->nquestions = 0;
}

/* The method of a question as a constant, if the client can be asked for it; NULL: it cannot. */
static const char *offered(const struct al_upstream *server, const char *method)
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
        drop_progress(wait);
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
    free_question(question);
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

/* Answer a request of the server's with a result, which is taken over; NULL: with an error. */
static void reply(struct al_upstream *server, const char *id, json_t *result, enum al_rpc_code code,
                  const char *problem)
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
    const char *method = offered(server, message->method);

    count_useless(link);
    if (link->revision && link->revision->era == AL_ERA_MODERN)
        return; /* such a server sends no requests, and its clients no responses */
    if (!strcmp(message->method, "ping"))
        reply(server, message->id, al_json_object(), AL_RPC_OK, NULL);
    else if (!method)
        reply(server, message->id, NULL, AL_RPC_METHOD_NOT_FOUND, "the client does not offer this");
    else if (!json_is_object(message->params) ||
             al_rpc_is_deeper(message->params, AL_UPSTREAM_RESULT_MAX_DEPTH))
        reply(server, message->id, NULL, AL_RPC_INVALID_PARAMS,
              "params must be an object that is not nested too deeply");
    else if (!hand_over(server, message, method))
        reply(server, message->id, NULL, AL_RPC_INVALID_REQUEST,
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

/* Every call in flight may be the one if its id is lost, and none of them may wait in vain.  A
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

/* --- Waiting for the server --- */

int al_upstream_wait_begin(struct al_upstream *server, struct al_upstream_wait *wait,
                           struct al_error *err)
{
    struct al_upstream_wait **at;

    *wait = AL_UPSTREAM_WAIT_INIT;
    wait->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wait->event_fd < 0)
        return al_error_errno(err, errno, "cannot create an event descriptor");
    al_hold(&server->lock);
    wait->nfailures = server->nfailures;
    for (at = &server->waits; *at; at = &(*at)->next)
        ;
    *at = wait;
    return 0;
}

void al_upstream_wait_end(struct al_upstream *server, struct al_upstream_wait *wait,
                          const char *reason)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    struct al_upstream_wait **at = &server->waits;

    (void)pthread_mutex_lock(&server->lock);
    while (*at && *at != wait)
        at = &(*at)->next;
    if (*at)
        *at = wait->next;
    if (wait->id && reason) {
        al_str_addf(&line,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                    "\"params\":{\"requestId\":%lu,\"reason\":\"%s\"}}",
                    wait->id, reason);
        (void)al_upstream_send(server, &line);
    }
    free_questions(wait);
    drop_progress(wait);
    (void)pthread_mutex_unlock(&server->lock);
    json_decref(wait->result);
    json_decref(wait->data);
    free(wait->message);
    al_error_clear(&wait->failure);
    al_close(wait->event_fd);
}

static void wait_once(const struct al_upstream_wait *wait, struct al_cancel *cancel,
                      int64_t deadline_ms)
{
    struct pollfd fds[] = {
        { .fd = wait->event_fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
    };
    uint64_t ignored;

    (void)poll(fds, AL_COUNT(fds), al_upstream_left_ms(deadline_ms));
    (void)!read(wait->event_fd, &ignored, sizeof(ignored));
}

/* Caller holds the lock.  Why it is in vain to wait for the server; 0: it is not. */
static int find_failure(const struct al_upstream *server, const struct al_upstream_wait *wait,
                        struct al_error *err)
{
    const int64_t left_ms = server->next_start_ms - al_clock_ms();

    if (server->ending)
        return al_error_set(err, AL_ERR_EXECUTION, "MCP server '%s' is being ended",
                            server->settings.name);
    if (!server->has_thread)
        return al_error_set(err, AL_ERR_EXECUTION, "MCP server '%s': cannot create a thread",
                            server->settings.name);
    if (server->phase != AL_UPSTREAM_WAITING)
        return 0;
    if (server->nfailures == wait->nfailures && left_ms <= AL_UPSTREAM_PATIENCE_MS)
        return 0;
    if (server->settings.is_brief)
        return al_error_set(err, server->problem.status, "%s", server->problem.message);
    return al_error_set(err, server->problem.status, "%s; it is started again in %d s",
                        server->problem.message, (int)((left_ms + 999) / 1000));
}

int al_upstream_wait_ready(struct al_upstream *server, const struct al_upstream_wait *wait,
                           struct al_cancel *cancel, int64_t deadline_ms, struct al_error *err)
{
    bool ready;
    int r;

    for (;;) {
        (void)pthread_mutex_lock(&server->lock);
        ready = server->phase == AL_UPSTREAM_READY;
        r = find_failure(server, wait, err);
        (void)pthread_mutex_unlock(&server->lock);
        if (r < 0 || ready)
            return r;
        if (al_cancel_fired(cancel))
            return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
        if (al_clock_ms() >= deadline_ms)
            return al_error_set(err, AL_ERR_TIMEOUT, "MCP server '%s' is still starting",
                                server->settings.name);
        wait_once(wait, cancel, deadline_ms);
    }
}

/* The list as it is now, with a reference; NULL: there is none yet, or with `fresh` not the newest.
 */
static json_t *take_tools(struct al_upstream *server, bool fresh)
{
    al_hold(&server->lock);
    return fresh && server->list_is_old && !server->ending ? NULL : json_incref(server->list.tools);
}

int al_upstream_tools(struct al_upstream *server, uint32_t wait_ms, struct al_cancel *cancel,
                      json_t **ret_tools, struct al_error *err)
{
    const int64_t deadline_ms = al_clock_ms() + wait_ms;
    json_t *tools = take_tools(server, wait_ms > 0);
    struct al_upstream_wait wait;
    int r;

    al_upstream_start(server);
    r = tools ? 0 : al_upstream_wait_begin(server, &wait, err);
    if (tools)
        *ret_tools = tools;
    if (tools || r < 0)
        return r;
    while (!tools && r == 0) {
        r = al_upstream_wait_ready(server, &wait, cancel, deadline_ms, err);
        tools = take_tools(server, !al_cancel_fired(cancel) && al_clock_ms() < deadline_ms);
        if (!tools && r == 0) /* it has changed, and is read again */
            wait_once(&wait, cancel, deadline_ms);
    }
    al_upstream_wait_end(server, &wait, "");
    if (!tools)
        return r;
    if (r < 0 && err) /* the list of before serves all the same */
        al_error_clear(err);
    *ret_tools = tools;
    return 0;
}

/* --- Calls --- */

/* One al_upstream_call(), which may take several requests. */
struct exchange {
    struct al_upstream *server;
    const struct al_upstream_call *call;
    struct al_upstream_wait wait;
    int64_t deadline_ms;
    const struct al_revision *revision; /* of the request that was sent last */
    json_t *tools;                      /* that were looked at for the request; a reference */
};

static uint32_t timeout_ms_of(const struct exchange *exchange)
{
    return exchange->call->timeout_ms ? exchange->call->timeout_ms
                                      : exchange->server->settings.timeout_ms;
}

static int fail(const struct exchange *exchange, struct al_error *err, const char *problem)
{
    return al_error_set(err, AL_ERR_EXECUTION, "MCP server '%s' %s",
                        exchange->server->settings.name, problem);
}

/* --- Sending --- */

static json_t *params_of(const struct exchange *exchange, const json_t *responses,
                         const char *state)
{
    const struct al_upstream_call *call = exchange->call;

    return json_pack("{s:o, s:o, s:O*, s:o*}", "name", al_json_string(call->tool), "arguments",
                     call->arguments ? json_incref((json_t *)call->arguments) : al_json_object(),
                     "inputResponses", responses, "requestState",
                     state ? al_json_string(state) : NULL);
}

/* Caller holds the lock. */
static unsigned count_calls(const struct al_upstream *server)
{
    unsigned count = 0;

    for (const struct al_upstream_wait *wait = server->waits; wait; wait = wait->next)
        count += wait->id && !wait->is_own;
    return count;
}

/* Caller holds the lock.  Send the request to the process that is ready now.  AL_ERR_AGAIN: none is
 * any more, or its tools are others than those that were looked at. */
static int send_now(struct exchange *exchange, json_t *params, struct al_error *err)
{
    struct al_upstream *server = exchange->server;
    const bool asks = exchange->call->ask != NULL;
    const unsigned long id = server->last_id + 1;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (server->phase != AL_UPSTREAM_READY || server->list.tools != exchange->tools)
        return AL_ERR_AGAIN;
    if (count_calls(server) >= AL_UPSTREAM_CALLS_MAX)
        return fail(exchange, err, "has too many calls in flight; wait for some to finish");
    al_upstream_set_meta(server, server->revision, params, exchange->call->progress ? id : 0, asks);
    al_upstream_add_request(&line, id, "tools/call", params);
    if (!al_upstream_send(server, &line))
        return fail(exchange, err, "does not read its input");
    server->last_id = exchange->wait.id = id;
    exchange->wait.asks = asks;
    exchange->revision = server->revision;
    return 0;
}

/* Find the tool in the list of now: what the server does not offer is not asked of it, and neither
 * is what it defines otherwise than the tool that was approved. */
static int find_tool(struct exchange *exchange, struct al_error *err)
{
    struct al_upstream *server = exchange->server;
    const json_t *wanted = exchange->call->definition, *tool;

    json_decref(exchange->tools);
    exchange->tools = take_tools(server, false);
    tool = al_upstream_tools_find(exchange->tools, exchange->call->tool);
    if (!tool)
        return al_error_set(err, AL_ERR_EXECUTION, "MCP server '%s' has no tool '%s'",
                            server->settings.name, exchange->call->tool);
    if (wanted && !json_equal(tool, wanted))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "The MCP server %s has changed its tool %s since it was listed. The "
                            "call was not sent; list the tools again",
                            server->settings.name, exchange->call->tool);
    return 0;
}

/* Send the call, once the server is ready for it. */
static int send_call(struct exchange *exchange, const json_t *responses, const char *state,
                     struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *params = params_of(exchange, responses, state);
    struct al_upstream *server = exchange->server;
    int r;

    do {
        r = al_upstream_wait_ready(server, &exchange->wait, exchange->call->cancel,
                                   exchange->deadline_ms, err);
        if (r == 0)
            r = find_tool(exchange, err);
        if (r < 0)
            return r;
        (void)pthread_mutex_lock(&server->lock);
        r = send_now(exchange, params, err);
        (void)pthread_mutex_unlock(&server->lock);
    } while (r == AL_ERR_AGAIN);
    return r;
}

/* --- Questions --- */

/* Ask the client.  The time that it takes does not count. */
static int ask(struct exchange *exchange, const char *method, const json_t *params,
               struct al_cancel *cancel, json_t **ret_result, struct al_error *err)
{
    const int64_t began_ms = al_clock_ms();
    int r;

    *ret_result = NULL;
    r = exchange->call->ask(exchange->call->payload, method, params, cancel, ret_result, err);
    exchange->deadline_ms += al_clock_ms() - began_ms;
    return r;
}

/* Note which question is being asked, so that it can be withdrawn; NULL: none is. */
static void set_asking(struct exchange *exchange, const char *id, struct al_cancel *cancel)
{
    al_hold(&exchange->server->lock);
    exchange->wait.asking_id = id;
    exchange->wait.asking = cancel;
    if (cancel && exchange->wait.answered)
        al_cancel_fire(cancel);
}

/* Ask one question of a legacy server.  One that was withdrawn gets no answer. */
static int take_question(struct exchange *exchange, struct al_upstream_question *question,
                         struct al_error *err)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel =
        al_cancel_new_within(exchange->call->cancel);
    struct al_error problem = AL_ERROR_INIT;
    json_t *result = NULL;
    int r;

    set_asking(exchange, question->id, cancel);
    r = ask(exchange, question->method, question->params, cancel, &result, &problem);
    set_asking(exchange, NULL, NULL);
    if (al_cancel_fired(cancel)) {
        json_decref(result);
        r = 0;
    } else {
        reply(exchange->server, question->id, r == 0 ? result : NULL, AL_RPC_INTERNAL_ERROR,
              "the client gave no answer");
    }
    if (r < 0 && err)
        *err = problem;
    else
        al_error_clear(&problem);
    free_question(question);
    return r;
}

/* --- Waiting --- */

/* The next thing that a call has to do. */
struct event {
    bool answered;
    struct al_upstream_question *question; /* owned */
    bool has_progress;
    struct al_upstream_progress progress; /* owns its message */
};

static struct event next_event(struct exchange *exchange)
{
    struct al_upstream_wait *wait = &exchange->wait;
    struct event event = { .question = NULL };

    al_hold(&exchange->server->lock);
    event.answered = wait->answered;
    if (!wait->answered && wait->has_progress) {
        event.has_progress = true;
        event.progress = wait->progress;
        wait->progress.message = NULL;
        wait->has_progress = false;
    } else if (!wait->answered && wait->questions) {
        event.question = wait->questions;
        wait->questions = event.question->next;
        wait->nquestions--;
    }
    return event;
}

static int check_time(const struct exchange *exchange, struct al_error *err)
{
    if (al_cancel_fired(exchange->call->cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (al_clock_ms() < exchange->deadline_ms)
        return 0;
    return al_error_set(err, AL_ERR_TIMEOUT, "MCP server '%s' did not answer within %u ms",
                        exchange->server->settings.name, (unsigned)timeout_ms_of(exchange));
}

/* Wait for the end of the request in flight. */
static int wait_for_answer(struct exchange *exchange, struct al_error *err)
{
    const struct al_upstream_call *call = exchange->call;
    int r = 0;

    while (r == 0) {
        struct event event = next_event(exchange);

        if (event.answered)
            return 0;
        if (event.question) {
            r = take_question(exchange, event.question, err);
        } else if (event.has_progress) {
            if (call->progress)
                call->progress(call->payload, &event.progress);
            free((char *)event.progress.message);
            r = check_time(exchange, err);
        } else {
            r = check_time(exchange, err);
            if (r == 0)
                wait_once(&exchange->wait, call->cancel, exchange->deadline_ms);
        }
    }
    return r;
}

/* --- Results --- */

static bool requires_input(const struct exchange *exchange, const json_t *result)
{
    const char *type = al_json_get_string(result, "resultType");

    return exchange->revision->era == AL_ERA_MODERN && type && !strcmp(type, "input_required");
}

/* Take the answer to the request out of the wait. */
static int take_result(struct exchange *exchange, json_t **ret_result, struct al_error *err)
{
    struct al_upstream_wait *wait = &exchange->wait;
    int r = 0;

    al_hold(&exchange->server->lock);
    *ret_result = al_take(&wait->result);
    if (!*ret_result) {
        r = wait->failure.status ? wait->failure.status : AL_ERR_EXECUTION;
        if (err)
            *err = wait->failure;
        else
            al_error_clear(&wait->failure);
        wait->failure = AL_ERROR_INIT;
    }
    wait->answered = false;
    free_questions(wait);
    return r;
}

/* --- Questions in results --- */

/* Ask what a modern server requires.  *ret_responses is for the repeated call. */
static int ask_all(struct exchange *exchange, const json_t *result, json_t **ret_responses,
                   struct al_error *err)
{
    json_t *requests = json_object_get(result, "inputRequests");
    al_auto(al_json_decrefp) json_t *responses = al_json_object();
    const char *name;
    json_t *request;

    if (json_object_size(requests) > AL_UPSTREAM_QUESTIONS_MAX)
        return fail(exchange, err, "asks too many questions at once");
    json_object_foreach(requests, name, request)
    {
        const char *method = offered(exchange->server, al_json_get_string(request, "method"));
        json_t *params = json_object_get(request, "params"), *response = NULL;
        int r;

        if (!method || !exchange->call->ask || !json_is_object(params) ||
            al_rpc_is_deeper(params, AL_UPSTREAM_RESULT_MAX_DEPTH))
            return fail(exchange, err, "asks for something that the client cannot give");
        r = ask(exchange, method, params, exchange->call->cancel, &response, err);
        if (r < 0)
            return r;
        if (!response)
            return fail(exchange, err, "asked for something that the client did not give");
        al_json_set(responses, name, response);
    }
    *ret_responses = al_take(&responses);
    return 0;
}

/* Repeat the call with answers until the server requires no more. */
static int converse(struct exchange *exchange, json_t **ret_result, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *responses = NULL;
    al_auto(al_freep) char *state = NULL;

    for (unsigned round = 0; round <= AL_UPSTREAM_ROUNDS_MAX; round++) {
        al_auto(al_json_decrefp) json_t *result = NULL;
        int r = send_call(exchange, responses, state, err);

        if (r == 0)
            r = wait_for_answer(exchange, err);
        if (r == 0)
            r = take_result(exchange, &result, err);
        if (r < 0)
            return r;
        if (!requires_input(exchange, result)) {
            *ret_result = al_take(&result);
            return 0;
        }
        json_decref(al_take(&responses));
        r = ask_all(exchange, result, &responses, err);
        if (r < 0)
            return r;
        free(state);
        state = al_strdup(al_json_get_string(result, "requestState"));
    }
    return fail(exchange, err, "asks again and again");
}

static bool have_types(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!al_json_get_string(json_array_get(array, i), "type"))
            return false;
    return json_is_array(array);
}

/* The problem with a result; NULL: none that concerns airlock.  Whether it fits the tool's output
 * schema is for the client to see. */
static const char *find_problem(json_t *result)
{
    if (!json_is_object(result) || !have_types(json_object_get(result, "content")))
        return "answered with something that is no result of a tool";
    if (al_rpc_is_deeper(result, AL_UPSTREAM_RESULT_MAX_DEPTH))
        return "answered with a result that is nested too deeply";
    return NULL;
}

int al_upstream_call(struct al_upstream *server, const struct al_upstream_call *call,
                     json_t **ret_result, struct al_error *err)
{
    struct exchange exchange = { .server = server, .call = call };
    al_auto(al_json_decrefp) json_t *result = NULL;
    const char *problem = NULL;
    int r;

    exchange.deadline_ms = al_clock_ms() + timeout_ms_of(&exchange);
    al_upstream_start(server);
    r = al_upstream_wait_begin(server, &exchange.wait, err);
    if (r < 0)
        return r;
    r = converse(&exchange, &result, err);
    al_upstream_wait_end(server, &exchange.wait,
                         r == AL_ERR_TIMEOUT ? "no answer in time" : "the call was cancelled");
    if (r == 0 && !requires_input(&exchange, result))
        problem = find_problem(result);
    if (problem)
        r = fail(&exchange, err, problem);
    json_decref(exchange.tools);
    if (r == 0)
        *ret_result = al_take(&result);
    return r;
}
