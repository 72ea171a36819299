// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "proc/cancel.h"
#include "serve/upstream/private.h"

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
    al_upstream_free_questions(wait);
    al_upstream_drop_progress(wait);
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
        al_upstream_reply(exchange->server, question->id, r == 0 ? result : NULL,
                          AL_RPC_INTERNAL_ERROR, "the client gave no answer");
    }
    if (r < 0 && err)
        *err = problem;
    else
        al_error_clear(&problem);
    al_upstream_question_free(question);
    return r;
}

/* --- Waiting --- */

/* What a call has to do next. */
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
    al_upstream_free_questions(wait);
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
        const char *method =
            al_upstream_offered(exchange->server, al_json_get_string(request, "method"));
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

/* What is wrong with a result; NULL: nothing that concerns airlock.  Whether it fits the tool's
 * output schema is for the client to see. */
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
