// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/calls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/progress.h"
#include "base/secret.h"
#include "base/sink.h"
#include "call/call.h"
#include "call/tool.h"
#include "proc/cancel.h"
#include "tools/upstream/mounts.h"

/* One call, from al_calls_start() to the end of run_call(). */
struct al_inflight {
    struct al_task task;
    struct al_inflight *next;
    struct al_calls *calls;
    struct al_call_spec spec;
    struct al_cancel *cancel;
    size_t nbytes; /* of the arguments, as its scope's quota counts them; 0 without one */
    const struct al_mounted_list *mounted; /* that spec.tool is borrowed from; NULL: none */

    /* The lock of `calls` guards the members below. */
    bool cancelled;
    const char *question; /* that waits for the client: the id of a request as canonical JSON text,
                             or a requestState; NULL: none does */
    int answer_fd;        /* readable once it is answered */
    bool is_answered;
    json_t *answer;           /* NULL: it is an error */
    const char *waiting_for;  /* the progress message while the client is asked, or NULL */
    int64_t progress_due_ms;  /* when the next notification is due */
    int64_t progress_sent_ms; /* when the last one was sent */
    char *last_progress;      /* the last line of git's progress, or NULL */
    unsigned long progress;   /* of the last notification */
};

void al_call_scope_init(struct al_call_scope *scope, const struct al_session *session)
{
    *scope =
        (struct al_call_scope){ .session = session, .changes = { .max = 1, .in_order = true } };
    atomic_init(&scope->refs, 1);
}

void al_call_scope_ref(struct al_call_scope *scope)
{
    atomic_fetch_add(&scope->refs, 1);
}

void al_call_scope_unref(struct al_call_scope *scope)
{
    if (atomic_fetch_sub(&scope->refs, 1) == 1 && scope->unused)
        scope->unused(scope);
}

void al_calls_init(struct al_calls *calls, const struct al_calls_options *options)
{
    *calls = (struct al_calls){ .options = *options, .reads = { .max = AL_READS_MAX } };
    (void)pthread_mutex_init(&calls->lock, NULL);
    (void)pthread_cond_init(&calls->idle, NULL);
}

void al_call_spec_clear(struct al_call_spec *spec)
{
    free(spec->id);
    free(spec->progress_token);
    free(spec->client);
    free(spec->mounted_tool);
    json_decref(spec->arguments);
    al_input_required_clear(&spec->input_required);
}

static void free_call(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    struct al_call_scope *scope = call->spec.scope;

    al_pool_leave(calls->options.pool, &call->task);
    (void)pthread_mutex_lock(&calls->lock);
    if (--calls->nunanswered == 0)
        (void)pthread_cond_broadcast(&calls->idle);
    (void)pthread_mutex_unlock(&calls->lock);
    al_call_spec_clear(&call->spec);
    al_mounted_list_free(call->mounted);
    free(call->last_progress);
    al_cancel_unref(call->cancel);
    free(call);
    al_call_scope_unref(scope);
}

/* Caller holds the lock. */
static void cancel_inflight(struct al_inflight *call)
{
    call->cancelled = true;
    al_cancel_fire(call->cancel);
    al_pool_leave(call->calls->options.pool, &call->task);
}

void al_calls_close(struct al_calls *calls)
{
    al_hold(&calls->lock);
    calls->closing = true;
    for (struct al_inflight *call = calls->inflight; call; call = call->next)
        cancel_inflight(call);
}

void al_calls_clear(struct al_calls *calls)
{
    (void)pthread_cond_destroy(&calls->idle);
    (void)pthread_mutex_destroy(&calls->lock);
}

bool al_calls_wait_idle(struct al_calls *calls, int timeout_ms)
{
    const int64_t end_ms = al_clock_ms() + timeout_ms;
    const struct timespec end = { .tv_sec = (time_t)(end_ms / 1000),
                                  .tv_nsec = (long)(end_ms % 1000) * 1000000 };
    int r = 0;

    al_hold(&calls->lock);
    while (calls->nunanswered && r == 0)
        r = pthread_cond_clockwait(&calls->idle, &calls->lock, CLOCK_MONOTONIC, &end);
    return !calls->nunanswered;
}

size_t al_calls_count(struct al_calls *calls)
{
    al_hold(&calls->lock);
    return calls->nunanswered;
}

bool al_calls_has_scope(struct al_calls *calls, const struct al_call_scope *scope)
{
    const struct al_inflight *call;

    al_hold(&calls->lock);
    for (call = calls->inflight; call && call->spec.scope != scope; call = call->next)
        ;
    return call != NULL;
}

void al_calls_cancel_all(struct al_calls *calls, const struct al_call_scope *scope,
                         const struct al_message_sink *sink)
{
    al_hold(&calls->lock);
    for (struct al_inflight *call = calls->inflight; call; call = call->next)
        if (call->spec.scope == scope && (!sink || call->spec.sink == sink))
            cancel_inflight(call);
}

/* Caller holds the lock.  The call of a scope whose request has this id; NULL: none, or the scope
 * has no ids to find one by. */
static struct al_inflight *find(struct al_calls *calls, const struct al_call_scope *scope,
                                const char *id)
{
    struct al_inflight *call = scope->ids_repeat ? NULL : calls->inflight;

    while (call && (call->spec.scope != scope || strcmp(call->spec.id, id) != 0))
        call = call->next;
    return call;
}

void al_calls_cancel(struct al_calls *calls, const struct al_call_scope *scope, const char *id)
{
    struct al_inflight *call;

    al_hold(&calls->lock);
    call = find(calls, scope, id);
    if (call)
        cancel_inflight(call);
}

/* Caller holds the lock.  A notification is due at that time, if the client wants any. */
static void schedule(struct al_inflight *call, int64_t at_ms)
{
    if (!call->spec.progress_token)
        return;
    call->progress_due_ms = at_ms;
    (void)eventfd_write(call->calls->options.wake_fd, 1);
}

/* The call waits for something, named in the present tense for progress; NULL: no longer. */
static void set_waiting(struct al_inflight *call, const char *waiting_for)
{
    al_hold(&call->calls->lock);
    call->waiting_for = waiting_for;
    if (waiting_for)
        schedule(call, al_clock_ms());
}

/* The same for somebody who may take long: others do not wait for the call meanwhile. */
static void set_waiting_aside(struct al_inflight *call, const char *waiting_for)
{
    struct al_calls *calls = call->calls;

    set_waiting(call, waiting_for);
    al_hold(&calls->lock);
    if (waiting_for)
        al_pool_leave(calls->options.pool, &call->task);
    else if (!call->cancelled)
        al_pool_come_back(calls->options.pool, &call->task);
}

/* Caller holds the lock, so that the answer cannot overtake the progress. */
static void send_progress(struct al_inflight *call)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    const char *message = call->waiting_for ? call->waiting_for : "running";

    if (!call->waiting_for && call->last_progress)
        message = call->last_progress;
    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                "\"progressToken\":%s,\"progress\":%lu,\"message\":",
                call->spec.progress_token, ++call->progress);
    al_json_quote(message, strlen(message), &line);
    al_str_adds(&line, "}}");
    call->progress_sent_ms = al_clock_ms();
    call->progress_due_ms = call->progress_sent_ms + AL_PROGRESS_NEXT_MS;
    al_sink_send(call->spec.sink, &line);
}

/* git reports more often than clients want: a line that comes too soon is sent the next time,
 * unless a newer one replaces it.  A call that was resumed by a request without a token has none
 * any more. */
static void report(void *payload, const char *line)
{
    struct al_inflight *call = payload;

    al_hold(&call->calls->lock);
    free(call->last_progress);
    call->last_progress = al_strdup(line);
    if (line && call->spec.progress_token && !call->cancelled &&
        al_clock_ms() - call->progress_sent_ms >= AL_PROGRESS_STEP_MS)
        send_progress(call);
}

/* No progress is sent from here on, and the id may be used again.  False: the call was cancelled.
 */
static bool unregister(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    struct al_inflight **at;
    bool cancelled;

    al_hold(&calls->lock);
    for (at = &calls->inflight; *at != call; at = &(*at)->next)
        ;
    *at = call->next;
    calls->ninflight--;
    if (call->spec.scope->quota) {
        call->spec.scope->quota->ninflight--;
        call->spec.scope->quota->nbytes -= call->nbytes;
    }
    cancelled = call->cancelled;
    return !cancelled;
}

/* Caller holds the lock. */
static bool has_place(const struct al_calls *calls, const struct al_call_quota *quota,
                      size_t nbytes)
{
    if (calls->ninflight >= calls->options.max)
        return false;
    return !quota || (quota->ninflight < quota->max &&
                      (!quota->ninflight || quota->nbytes + nbytes <= quota->max_bytes));
}

/* Caller holds the lock. */
static void add_inflight(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;

    call->next = calls->inflight;
    calls->inflight = call;
    calls->ninflight++;
    if (call->spec.scope->quota) {
        call->spec.scope->quota->ninflight++;
        call->spec.scope->quota->nbytes += call->nbytes;
    }
    schedule(call, al_clock_ms() + AL_PROGRESS_FIRST_MS);
    if (calls->closing)
        cancel_inflight(call);
}

/* Register the call, so that it can be cancelled, or answer why it cannot be. */
static bool try_register(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    const struct al_call_scope *scope = call->spec.scope;
    bool is_known, added = false;

    (void)pthread_mutex_lock(&calls->lock);
    calls->nunanswered++;
    is_known = find(calls, scope, call->spec.id) != NULL;
    if (!is_known && has_place(calls, scope->quota, call->nbytes)) {
        add_inflight(call);
        added = true;
    }
    (void)pthread_mutex_unlock(&calls->lock);
    if (is_known)
        al_reply_error(call->spec.sink, call->spec.id, AL_RPC_INVALID_REQUEST,
                       "a request with this id is in flight");
    else if (!added)
        al_reply_busy(call->spec.sink, call->spec.id,
                      "too many calls in flight; wait for some to finish");
    return added;
}

/* --- Questions to the client --- */

/* The random part of a requestState in hexadecimal, behind what tells it from an approval's. */
#define PREFIX      "airlock-question-"
#define TOKEN_BYTES 16

/* A request to the client.  Borrowed. */
struct question {
    const char *method;
    const json_t *params;
    int timeout_ms;                       /* 0: no limit */
    const struct al_meanwhile *meanwhile; /* NULL: nothing is to be done while it waits */
};

/* Have a question wait: a request to the client, or one that parks the call.  *ret_id is its id,
 * the caller's.  0, and await_answer() is due; AL_ERR_AGAIN: AL_CLIENT_QUESTIONS_MAX wait already;
 * AL_ERR_EXECUTION. */
static int begin_question(struct al_inflight *call, bool parks, char **ret_id, struct al_error *err)
{
    struct al_call_scope *scope = call->spec.scope;
    const int event_fd = eventfd(0, EFD_CLOEXEC);
    char token[2 * TOKEN_BYTES + 1];
    size_t nwaiting = 0;

    if (event_fd < 0)
        return al_error_errno(err, errno, "cannot create an event descriptor");
    al_random_hex(TOKEN_BYTES, token);
    al_hold(&call->calls->lock);
    for (const struct al_inflight *at = call->calls->inflight; at; at = at->next)
        nwaiting += at->spec.scope == scope && at->question;
    if (nwaiting == AL_CLIENT_QUESTIONS_MAX) {
        al_close(event_fd);
        return AL_ERR_AGAIN;
    }
    *ret_id = parks ? al_asprintf(PREFIX "%s", token)
                    : al_asprintf("\"airlock-%lu\"", ++scope->nquestions);
    call->question = *ret_id;
    call->answer_fd = event_fd;
    call->is_answered = false;
    return 0;
}

/* Whether the question was answered, and with what, for the caller.  A later answer is ignored. */
static bool end_question(struct al_inflight *call, json_t **ret_result)
{
    al_hold(&call->calls->lock);
    call->question = NULL;
    al_close(call->answer_fd);
    *ret_result = al_take(&call->answer);
    return call->is_answered;
}

/* Wait for the answer.  The work done meanwhile does not count as one. */
static bool await_answer(struct al_inflight *call, const struct question *question,
                         struct al_cancel *cancel, json_t **ret_result)
{
    const struct al_meanwhile *meanwhile = question->meanwhile;
    struct pollfd fds[] = {
        { .fd = call->answer_fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
        { .fd = meanwhile ? meanwhile->fd : -1, .events = POLLIN },
    };
    const int64_t deadline = al_clock_ms() + question->timeout_ms;
    bool waits = true;

    while (waits) {
        const int64_t left = deadline - al_clock_ms();
        const int n = poll(fds, AL_COUNT(fds),
                           !question->timeout_ms ? -1
                           : left > 0            ? (int)left
                                                 : 0);

        waits = (n < 0 && errno == EINTR) || (n > 0 && !fds[0].revents && !fds[1].revents);
        if (waits && n > 0)
            meanwhile->run(meanwhile->payload);
    }
    return end_question(call, ret_result);
}

/* Caller holds the lock.  The call of a scope whose question waits for an answer; NULL: none. */
static struct al_inflight *find_asking(const struct al_calls *calls,
                                       const struct al_call_scope *scope, const char *question)
{
    struct al_inflight *call = calls->inflight;

    while (call && (call->spec.scope != scope || !call->question || call->is_answered ||
                    call->cancelled || strcmp(call->question, question) != 0))
        call = call->next;
    return call;
}

/* Caller holds the lock.  The result is taken over. */
static void settle(struct al_inflight *call, json_t *result)
{
    call->answer = result;
    call->is_answered = true;
    (void)eventfd_write(call->answer_fd, 1);
}

/* The result of a response: a copy, because the message belongs to the reader.  A response with
 * duplicate names counts as an empty result: unlike an error, it says that the user was asked. */
static json_t *result_of(const struct al_rpc_message *message)
{
    if (message->has_duplicates)
        return al_json_object();
    return json_object_get(message->body, "error")
               ? NULL
               : json_deep_copy(json_object_get(message->body, "result"));
}

void al_calls_answer(struct al_calls *calls, const struct al_call_scope *scope,
                     const struct al_rpc_message *message)
{
    al_auto(al_json_decrefp) json_t *result = message->id ? result_of(message) : NULL;
    struct al_inflight *call;

    al_hold(&calls->lock);
    call = message->id ? find_asking(calls, scope, message->id) : NULL;
    if (call)
        settle(call, al_take(&result));
}

/* Send a request to the client of the call, and wait for its response; *ret_result stays NULL when
 * that is an error, or does not come in time.  One that is given up is withdrawn. */
static int send_and_ask(struct al_inflight *call, const struct question *question,
                        struct al_cancel *cancel, json_t **ret_result, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT, withdrawal = AL_STR_INIT;
    al_auto(al_freep) char *id = NULL;
    bool is_answered;
    int r = begin_question(call, false, &id, err);

    if (r < 0)
        return r;
    al_str_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":", id,
                question->method);
    al_json_dump(question->params, false, &line);
    al_rpc_end(&line);
    al_sink_send(call->spec.sink, &line);
    is_answered = await_answer(call, question, cancel, ret_result);
    if (!is_answered) {
        al_str_addf(&withdrawal,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                    "\"params\":{\"requestId\":%s,\"reason\":\"%s\"}}",
                    id, al_cancel_fired(cancel) ? "the call was cancelled" : "no answer in time");
        al_sink_send(call->spec.sink, &withdrawal);
    }
    if (!al_cancel_fired(cancel) && (is_answered || question->timeout_ms))
        return 0;
    json_decref(al_take(ret_result));
    return al_error_set(err, AL_ERR_CANCELLED, "cancelled while waiting for the client");
}

/* --- Parking --- */

/*
 * Calls that wait for a modern client's answer to a question of another MCP server.
 *
 * A modern client is asked with the result of its request.  The server cannot be asked to begin
 * again, so the call goes on waiting without a request of its own, until a request with its
 * `requestState` brings the answer.  That request is answered when the call ends, or asks again.
 *
 *   state     request of the call   ends when
 *   running   its own               it is answered
 *   parked    none                  a request brings the answer, PARKED_MS pass, or the input ends
 *   resumed   the later request     it is answered
 *
 * A requestState is 128 random bits, and is good for one answer to the same tool with the same
 * arguments.
 *
 * Source: MCP 2026-07-28, "Multi round-trip requests".
 */
#define REQUEST_KEY "question"

/* A call that waits longer ends as cancelled. */
#define PARKED_MS 120000

/* Take the request away from the call.  The id "" is no JSON, so no request has it. */
static bool park(struct al_inflight *call, char **ret_id, struct al_message_sink **ret_sink)
{
    bool parks;

    al_hold(&call->calls->lock);
    parks = !call->cancelled;
    if (parks) {
        *ret_id = call->spec.id;
        *ret_sink = call->spec.sink;
        call->spec.id = al_strdup("");
        call->spec.sink = NULL;
        free(al_take(&call->spec.progress_token));
    }
    return parks;
}

static void send_question(const struct al_inflight *call, const char *id,
                          struct al_message_sink *sink, const char *state, const json_t *params)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_begin_result(&line, id);
    al_str_adds(&line, "{\"resultType\":\"input_required\",\"inputRequests\":{\"" REQUEST_KEY
                       "\":{\"method\":\"elicitation/create\",\"params\":");
    al_json_dump(params, false, &line);
    al_str_addf(&line, "}},\"requestState\":\"%s\",\"_meta\":{%s}}", state, call->spec.extra->meta);
    al_rpc_end(&line);
    al_reply_send(sink, &line);
}

/* Answer the request of a call with a question, and wait for the answer, whose reference the caller
 * owns.  Runs on the thread of the call.  AL_ERR_CANCELLED: nobody answered, and the call has no
 * request to be answered any more. */
static int park_and_ask(struct al_inflight *call, const json_t *params, struct al_cancel *cancel,
                        json_t **ret_result, struct al_error *err)
{
    al_auto(al_freep) char *id = NULL, *state = NULL;
    struct al_message_sink *sink;
    int r = begin_question(call, true, &state, err);

    if (r < 0)
        return r;
    if (park(call, &id, &sink))
        send_question(call, id, sink, state, params);
    (void)await_answer(call, &(struct question){ .timeout_ms = PARKED_MS }, cancel, ret_result);
    if (*ret_result)
        return 0;
    al_hold(&call->calls->lock);
    call->cancelled = true;
    return al_error_set(err, AL_ERR_CANCELLED, "the client did not answer");
}

bool al_calls_is_answer(const json_t *params)
{
    const char *state = al_json_get_string(params, "requestState");

    return state && al_starts_with(state, PREFIX);
}

static bool is_same_call(const struct al_inflight *call, const struct al_call_spec *spec,
                         const char *tool)
{
    const json_t *own = call->spec.arguments, *given = spec->arguments;

    return !strcmp(call->spec.tool->tool->name, tool) && !spec->arguments_error &&
           (json_equal(own, given) || (!json_object_size(own) && !json_object_size(given)));
}

/* Caller holds the lock. */
static void resume(struct al_inflight *call, struct al_call_spec *spec)
{
    free(call->spec.id);
    call->spec.id = al_take(&spec->id);
    call->spec.progress_token = al_take(&spec->progress_token);
    call->spec.sink = spec->sink;
    schedule(call, al_clock_ms() + AL_PROGRESS_FIRST_MS);
}

/* Caller holds the lock.  Why the request does not answer the parked call; NULL: it has. */
static const char *try_answer(struct al_inflight *call, const struct al_call_spec *spec,
                              const char *tool, const json_t *response)
{
    if (call && !is_same_call(call, spec, tool))
        return "requestState belongs to a call of another tool or with other arguments; make the "
               "call again without it";
    if (call && !json_is_object(response))
        return "inputResponses lacks 'question', an object";
    if (call && find(call->calls, spec->scope, spec->id))
        return "a request with this id is in flight";
    if (!call)
        return "no call waits with this requestState: it was answered, or nobody answered in time; "
               "make the call again without it";
    settle(call, json_deep_copy(response)); /* a copy: the message belongs to the reader */
    return NULL;
}

enum al_rpc_code al_calls_resume(struct al_calls *calls, struct al_call_spec *spec,
                                 const char *tool, const json_t *params, const char **ret_problem)
{
    const json_t *response =
        json_object_get(json_object_get(params, "inputResponses"), REQUEST_KEY);
    struct al_inflight *call;

    al_hold(&calls->lock);
    call = find_asking(calls, spec->scope, al_json_get_string(params, "requestState"));
    *ret_problem = try_answer(call, spec, tool, response);
    if (!*ret_problem)
        resume(call, spec);
    return *ret_problem ? AL_RPC_INVALID_PARAMS : AL_RPC_OK;
}

/* --- A call on its thread: what it asks the client, what it runs, and its answer --- */

/* Ask the client, and let others go on meanwhile.  A modern client is asked with the result of the
 * call's request.  AL_ERR_AGAIN: too many questions wait. */
static int ask_client(struct al_inflight *call, const char *waiting_for,
                      const struct question *question, struct al_cancel *cancel,
                      json_t **ret_result, struct al_error *err)
{
    int r;

    *ret_result = NULL;
    set_waiting_aside(call, waiting_for);
    r = call->spec.form == AL_APPROVAL_FORM_RESULT
            ? park_and_ask(call, question->params, cancel, ret_result, err)
            : send_and_ask(call, question, cancel, ret_result, err);
    set_waiting_aside(call, NULL);
    return r;
}

/* An approval of a modern client is asked for by ending the call, which the client repeats. */
static int approve(void *payload, const struct al_approval_request *request,
                   struct al_cancel *cancel, struct al_approval_answer *ret_answer,
                   struct al_error *err)
{
    struct al_inflight *call = payload;
    al_auto(al_json_decrefp) json_t *params = NULL, *result = NULL;
    int r;

    if (call->spec.form == AL_APPROVAL_FORM_RESULT) {
        al_input_required_ask(&call->spec.input_required, request, ret_answer);
        return 0;
    }
    params = al_approval_form_params(call->spec.form, request);
    r = ask_client(call, "waiting for approval",
                   &(struct question){ .method = "elicitation/create",
                                       .params = params,
                                       .meanwhile = request->meanwhile },
                   cancel, &result, err);
    if (r == AL_ERR_AGAIN)
        ret_answer->decision = AL_ANSWER_TOO_MANY;
    else if (result)
        al_approval_form_answer(result, ret_answer);
    return r == AL_ERR_AGAIN ? 0 : r;
}

/* A review in another window answers, and not the client. */
static void wait_aside(void *payload, const char *waiting_for)
{
    set_waiting_aside(payload, waiting_for);
}

/* The params of sampling/createMessage.  Caller owns the reference. */
static json_t *sampling_params(const struct al_sampling_request *request)
{
    return json_pack("{s:[{s:s, s:{s:s, s:o}}], s:o, s:i}", "messages", "role", "user", "content",
                     "type", "text", "text", al_json_string(request->task), "systemPrompt",
                     al_json_string(request->role), "maxTokens", request->max_tokens);
}

/* The text in its result.  NULL: it holds no text, or the text was cut at maxTokens. */
static char *sampling_text(const json_t *result)
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

static int sample_text(void *payload, const struct al_sampling_request *request,
                       struct al_cancel *cancel, char **ret_text, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *params = sampling_params(request), *result = NULL;
    const int r = ask_client(payload, "waiting for the client's model",
                             &(struct question){ .method = "sampling/createMessage",
                                                 .params = params,
                                                 .timeout_ms = request->timeout_ms },
                             cancel, &result, err);

    *ret_text = result ? sampling_text(result) : NULL;
    return r == AL_ERR_AGAIN ? 0 : r;
}

/* Pass a question of another MCP server on, which waits in its call. */
static int pass_on(void *payload, const char *method, const json_t *params,
                   struct al_cancel *cancel, json_t **ret_result, struct al_error *err)
{
    struct al_inflight *call = payload;
    const bool is_form = !strcmp(method, "elicitation/create");
    int r;

    *ret_result = NULL;
    if (is_form ? call->spec.form == AL_APPROVAL_FORM_NONE : !call->spec.sampling)
        return 0;
    r = ask_client(call, is_form ? "waiting for the user" : "waiting for the client's model",
                   &(struct question){
                       .method = method, .params = params, .timeout_ms = AL_UPSTREAM_QUESTION_MS },
                   cancel, ret_result, err);
    return r == AL_ERR_AGAIN ? 0 : r;
}

static void answer(struct al_inflight *call, const struct al_result *result)
{
    const struct al_str *required = &call->spec.input_required.result;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (!unregister(call)) {
        al_reply_nothing(call->spec.sink);
        return;
    }
    al_rpc_begin_result(&line, call->spec.id);
    if (required->len && result->status == AL_ERR_APPROVAL_REQUIRED)
        al_str_addf(&line, "{%s,\"_meta\":{%s}}", required->buf, call->spec.extra->meta);
    else
        al_result_dump(result, call->spec.extra, &line);
    al_rpc_end(&line);
    al_reply_send(call->spec.sink, &line);
}

/* A call that is cancelled meanwhile goes on, and ends as cancelled. */
static void wait_until_ready(struct al_inflight *call)
{
    const struct al_cancel *ready = call->calls->options.ready;
    struct pollfd wait[2] = {
        { .fd = al_cancel_fd(ready), .events = POLLIN },
        { .fd = al_cancel_fd(call->cancel), .events = POLLIN },
    };

    if (!ready || al_cancel_fired(ready))
        return;
    set_waiting(call, "waiting for the files that the worker file names");
    while (!al_cancel_fired(ready) && !al_cancel_fired(call->cancel))
        (void)poll(wait, AL_COUNT(wait), -1);
    set_waiting(call, NULL);
}

static void run_tool(struct al_inflight *call)
{
    const bool shows_forms = call->spec.form != AL_APPROVAL_FORM_NONE;
    const struct al_approver approver = {
        .name = "elicitation",
        .ask = approve,
        .payload = call,
        .ends_call = call->spec.form == AL_APPROVAL_FORM_RESULT,
        .has_answer = call->spec.input_required.answer.decision != AL_ANSWER_NONE,
    };
    const struct al_progress waiting = { .report = wait_aside, .payload = call };
    const struct al_progress progress = { .report = report, .payload = call };
    const struct al_sampler sampler = { .sample = sample_text, .payload = call };
    const struct al_asker asker = { .ask = pass_on, .payload = call };
    const struct al_call_input input = {
        .tool = call->spec.tool,
        .arguments = call->spec.arguments,
        .arguments_error = call->spec.arguments_error,
        .cancel = call->cancel,
        .client = call->spec.client,
        .approver = shows_forms ? &approver : NULL,
        .progress = call->spec.progress_token ? &progress : NULL,
        .sampler = call->spec.sampling ? &sampler : NULL,
        .asker = shows_forms || call->spec.sampling ? &asker : NULL,
        .waiting = &waiting,
    };
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;

    wait_until_ready(call);
    al_call_run(call->spec.scope->session, &input, &result);
    answer(call, &result);
}

/* Answer for a tool that cannot be called: there is none, or its server does not run. */
static void answer_without_tool(struct al_inflight *call, struct al_error *why)
{
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;

    if (why->status != AL_ERR_NOT_FOUND) {
        al_call_record_failure(call->spec.scope->session,
                               &(struct al_call_input){ .arguments = call->spec.arguments,
                                                        .client = call->spec.client },
                               call->spec.mounted_tool, why);
        result.status = why->status;
        result.error = *why;
        *why = AL_ERROR_INIT;
        al_str_adds(&result.text, result.error.message);
        answer(call, &result);
    } else if (unregister(call)) {
        al_reply_error_about(call->spec.sink, call->spec.id, AL_RPC_INVALID_PARAMS, "Unknown tool",
                             call->spec.mounted_tool, NULL);
    } else {
        al_reply_nothing(call->spec.sink);
    }
}

/* Find the tool of another server.  No server is started for a tool that is not granted. */
static int find_mounted(struct al_inflight *call, struct al_error *err)
{
    const struct al_session *session = call->spec.scope->session;
    int r = al_grant_check_tool(session->grant, call->spec.mounted_tool, err);

    return r < 0 ? r
                 : al_mounts_find(session->mounts, call->spec.mounted_tool, call->cancel,
                                  &call->mounted, &call->spec.tool, err);
}

/* Answer another request than tools/call. */
static void respond(struct al_inflight *call)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_begin_result(&line, call->spec.id);
    call->spec.respond(call->spec.payload, call->spec.extra, call->cancel, &line);
    al_rpc_end(&line);
    if (unregister(call))
        al_reply_send(call->spec.sink, &line);
    else
        al_reply_nothing(call->spec.sink);
}

/* Run the call on this thread and answer it, unless it is cancelled.  Frees it. */
static void run_call(struct al_task *task)
{
    struct al_inflight *call = (struct al_inflight *)task;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (call->spec.respond)
        respond(call);
    else if (!call->spec.tool && find_mounted(call, &err) < 0)
        answer_without_tool(call, &err);
    else
        run_tool(call);
    free_call(call);
}

/* --- From outside --- */

/* The gate that the call waits for before it begins; NULL: none. */
static struct al_gate *gate_of(struct al_calls *calls, const struct al_call_spec *spec)
{
    const unsigned effects = spec->tool ? al_tool_effects(spec->tool->tool) : 0;
    /* A pull into the sandbox may wait long for a network, and nobody for it. */
    const unsigned unordered =
        AL_READS | AL_USES_NETWORK | (effects & AL_USES_NETWORK ? AL_WRITES_FILES : 0);

    if (!spec->tool)
        return NULL;
    if (!al_effects_have_side_effects(effects))
        return &calls->reads;
    return (effects & ~unordered) && !spec->scope->ids_repeat ? &spec->scope->changes : NULL;
}

void al_calls_start(struct al_calls *calls, struct al_call_spec *spec)
{
    struct al_inflight *call = al_calloc(1, sizeof(*call));

    call->task = (struct al_task){ .run = run_call, .gates = { gate_of(calls, spec) } };
    call->calls = calls;
    call->cancel = al_cancel_new();
    call->spec = *spec;
    if (spec->scope->quota)
        call->nbytes = al_json_bytes(spec->arguments);
    al_call_scope_ref(call->spec.scope);
    *spec = (struct al_call_spec){ .id = NULL };
    if (try_register(call))
        (void)al_pool_submit(calls->options.pool, &call->task); /* which is in no lane */
    else
        free_call(call);
}

int al_calls_progress(struct al_calls *calls)
{
    int64_t now = al_clock_ms(), next = INT64_MAX;

    al_hold(&calls->lock);
    for (struct al_inflight *call = calls->inflight; call; call = call->next) {
        if (!call->spec.progress_token || call->cancelled)
            continue;
        if (call->progress_due_ms <= now)
            send_progress(call);
        if (call->progress_due_ms < next)
            next = call->progress_due_ms;
    }
    return next == INT64_MAX ? -1 : (int)(next - now);
}
