// SPDX-License-Identifier: Apache-2.0
#include "mcp/calls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "mcp/elicitation.h"
#include "mcp/inflight.h"
#include "mcp/parking.h"
#include "mcp/sampling.h"
#include "proc/cancel.h"
#include "proc/proc.h"
#include "tool/call.h"
#include "tool/mounts.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/progress.h"
#include "wire/writer.h"

int al_calls_init(struct al_calls *calls, const struct al_session *session,
                  struct al_message_writer *out, struct al_client_requests *client_requests,
                  struct al_error *err)
{
    *calls =
        (struct al_calls){ .session = session, .out = out, .client_requests = client_requests };
    calls->flusher_due_ms = INT64_MAX;
    calls->backlog_last = &calls->backlog;
    calls->reads_max = al_proc_jobs();
    calls->backlog_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (calls->backlog_fd < 0)
        return al_error_errno(err, errno, "cannot watch for calls");
    (void)pthread_mutex_init(&calls->lock, NULL);
    return 0;
}

/* Free an unregistered call. */
static void inflight_free(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;

    (void)pthread_mutex_lock(&calls->lock);
    al_backlog_end(call);
    (void)pthread_mutex_unlock(&calls->lock);
    free(call->spec.id);
    free(call->spec.progress_token);
    free(call->spec.client);
    free(call->spec.mounted_tool);
    al_mounted_list_unref(calls->session->mounts, call->mounted);
    free(call->last_progress);
    json_decref(call->spec.arguments);
    al_input_required_clear(&call->spec.input_required);
    al_cancel_unref(call->cancel);
    free(call);
}

/* Caller holds the lock. */
static void cancel_inflight(struct al_inflight *call)
{
    call->cancelled = true;
    al_cancel_fire(call->cancel);
    al_backlog_cancel(call);
}

void al_calls_close(struct al_calls *calls)
{
    (void)pthread_mutex_lock(&calls->lock);
    calls->closing = true;
    for (struct al_inflight *call = calls->inflight; call; call = call->next)
        cancel_inflight(call);
    (void)pthread_mutex_unlock(&calls->lock);
}

void al_calls_clear(struct al_calls *calls)
{
    al_close(calls->backlog_fd);
    (void)pthread_mutex_destroy(&calls->lock);
}

struct al_inflight *al_calls_find(struct al_calls *calls, const char *id)
{
    struct al_inflight *call = calls->inflight;

    while (call && strcmp(call->spec.id, id) != 0)
        call = call->next;
    return call;
}

void al_calls_cancel(struct al_calls *calls, const char *id)
{
    struct al_inflight *call;

    (void)pthread_mutex_lock(&calls->lock);
    call = al_calls_find(calls, id);
    if (call)
        cancel_inflight(call);
    (void)pthread_mutex_unlock(&calls->lock);
}

/* The flusher is woken only if it would come too late: waking it for each call with a progress
 * token costs 2 % of a short call. */
void al_calls_schedule_flusher(struct al_calls *calls, int64_t at_ms)
{
    if (at_ms < calls->flusher_due_ms) {
        calls->flusher_due_ms = at_ms;
        al_message_writer_wake(calls->out);
    }
}

/* Caller holds the lock. */
static void schedule_progress(struct al_inflight *call, int64_t at_ms)
{
    if (!call->spec.progress_token)
        return;
    call->progress_due_ms = at_ms;
    al_calls_schedule_flusher(call->calls, at_ms);
}

static void set_waiting(struct al_inflight *call, const char *waiting_for)
{
    (void)pthread_mutex_lock(&call->calls->lock);
    call->waiting_for = waiting_for;
    if (waiting_for) {
        schedule_progress(call, al_clock_ms());
        al_backlog_pause(call);
    } else {
        al_backlog_resume(call);
    }
    (void)pthread_mutex_unlock(&call->calls->lock);
}

static int ask(void *payload, const struct al_approval_request *request, struct al_cancel *cancel,
               struct al_approval_answer *ret_answer, struct al_error *err)
{
    struct al_inflight *call = payload;
    int r;

    if (call->spec.form == AL_APPROVAL_FORM_RESULT)
        return al_input_required_ask(&call->spec.input_required, request, ret_answer, err);
    set_waiting(call, "waiting for approval");
    r = al_elicitation_ask(call->calls->client_requests, call->spec.form, request, cancel,
                           ret_answer, err);
    set_waiting(call, NULL);
    return r;
}

static int sample_text(void *payload, const struct al_sampling_request *request,
                       struct al_cancel *cancel, char **ret_text, struct al_error *err)
{
    struct al_inflight *call = payload;
    int r;

    set_waiting(call, "waiting for the client's model");
    r = al_sampling_ask(call->calls->client_requests, request, cancel, ret_text, err);
    set_waiting(call, NULL);
    return r;
}

/* Pass a question of another MCP server on.  A modern client is asked with the result of a call,
 * and the server's call cannot wait for the next one. */
static int ask_client(void *payload, const char *method, const json_t *params,
                      struct al_cancel *cancel, json_t **ret_result, struct al_error *err)
{
    struct al_inflight *call = payload;
    struct al_client_requests *requests = call->calls->client_requests;
    const bool is_form = !strcmp(method, "elicitation/create");
    int r;

    *ret_result = NULL;
    if (is_form ? call->spec.form == AL_APPROVAL_FORM_NONE : !call->spec.sampling)
        return 0;
    if (!al_client_requests_reserve(requests))
        return 0;
    set_waiting(call, is_form ? "waiting for the user" : "waiting for the client's model");
    r = call->spec.form == AL_APPROVAL_FORM_RESULT
            ? al_parking_ask(call, params, cancel, ret_result, err)
            : al_client_requests_ask(requests, method, params, AL_UPSTREAM_QUESTION_MS, cancel,
                                     ret_result, err);
    set_waiting(call, NULL);
    al_client_requests_release(requests);
    return r;
}

static bool can_be_asked(const struct al_inflight *call)
{
    return call->spec.form != AL_APPROVAL_FORM_NONE || call->spec.sampling;
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
    al_message_writer_send(call->calls->out, &line);
}

/* git reports more often than clients want: a line that comes too soon is sent the next time,
 * unless a newer one replaces it.  A call that was resumed by a request without a token has none
 * any more. */
static void on_progress(void *payload, const char *line)
{
    struct al_inflight *call = payload;

    (void)pthread_mutex_lock(&call->calls->lock);
    free(call->last_progress);
    call->last_progress = al_strdup(line);
    if (line && call->spec.progress_token && !call->cancelled &&
        al_clock_ms() - call->progress_sent_ms >= AL_PROGRESS_STEP_MS)
        send_progress(call);
    (void)pthread_mutex_unlock(&call->calls->lock);
}

/* No progress is sent from here on, and the id may be used again.  False: the call was cancelled.
 */
static bool unregister(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    struct al_inflight **at;
    bool cancelled;

    (void)pthread_mutex_lock(&calls->lock);
    for (at = &calls->inflight; *at != call; at = &(*at)->next)
        ;
    *at = call->next;
    calls->ninflight--;
    cancelled = call->cancelled;
    (void)pthread_mutex_unlock(&calls->lock);
    return !cancelled;
}

/* Whether the call ends with an InputRequiredResult. */
static bool requires_input(const struct al_inflight *call, const struct al_result *result)
{
    return call->spec.input_required.result.len && result->status == AL_ERR_APPROVAL_REQUIRED;
}

static void answer(struct al_inflight *call, const struct al_result *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (!unregister(call)) {
        al_reply_nothing(call->spec.reply);
        return;
    }
    al_rpc_begin_result(&line, call->spec.id);
    if (requires_input(call, result))
        al_str_addf(&line, "{%s,\"_meta\":{%s}}", call->spec.input_required.result.buf,
                    call->spec.extra->meta);
    else
        al_result_dump_with(result, call->spec.extra, &line);
    al_rpc_end(&line);
    al_reply_send(call->spec.reply, &line);
}

/* A call that is cancelled meanwhile goes on, and ends as cancelled. */
static void wait_until_ready(struct al_inflight *call)
{
    const struct al_cancel *ready = call->calls->ready;
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
    const struct al_approver approver = { .name = "elicitation", .ask = ask, .payload = call };
    const struct al_progress progress = { .report = on_progress, .payload = call };
    const struct al_sampler sampler = { .sample = sample_text, .payload = call };
    const struct al_asker asker = { .ask = ask_client, .payload = call };
    const struct al_call_input input = {
        .tool = call->spec.tool,
        .arguments = call->spec.arguments,
        .arguments_error = call->spec.arguments_error,
        .cancel = call->cancel,
        .client = call->spec.client,
        .approvers = &approver,
        .napprovers = call->spec.form != AL_APPROVAL_FORM_NONE,
        .progress = call->spec.progress_token ? &progress : NULL,
        .sampler = call->spec.sampling ? &sampler : NULL,
        .asker = can_be_asked(call) ? &asker : NULL,
    };
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;

    wait_until_ready(call);
    al_call_run(call->calls->session, &input, &result);
    answer(call, &result);
}

/* Answer for a tool that cannot be called: there is none, or its server does not run. */
static void answer_without_tool(struct al_inflight *call, struct al_error *why)
{
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;

    if (why->status != AL_ERR_NOT_FOUND) {
        al_call_record_failure(call->calls->session,
                               &(struct al_call_input){ .arguments = call->spec.arguments,
                                                        .client = call->spec.client },
                               call->spec.mounted_tool, why);
        result.status = why->status;
        result.error = *why;
        *why = AL_ERROR_INIT;
        al_str_adds(&result.text, result.error.message);
        answer(call, &result);
    } else if (unregister(call)) {
        al_reply_error_about(call->spec.reply, call->spec.id, AL_RPC_INVALID_PARAMS, "Unknown tool",
                             call->spec.mounted_tool, NULL);
    } else {
        al_reply_nothing(call->spec.reply);
    }
}

/* Find the tool of another server.  No server is started for a tool that is not granted. */
static int find_mounted(struct al_inflight *call, struct al_error *err)
{
    const struct al_session *session = call->calls->session;
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
    call->spec.respond(call->spec.payload, call->cancel, &line);
    al_rpc_end(&line);
    if (unregister(call))
        al_reply_send(call->spec.reply, &line);
    else
        al_reply_nothing(call->spec.reply);
}

void al_calls_run(struct al_inflight *call)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (call->spec.respond)
        respond(call);
    else if (!call->spec.tool && find_mounted(call, &err) < 0)
        answer_without_tool(call, &err);
    else
        run_tool(call);
    inflight_free(call);
}

/* AL_RPC_OK, or why the call cannot be registered. */
static enum al_rpc_code try_register(struct al_inflight *call, const char **ret_problem)
{
    struct al_calls *calls = call->calls;
    enum al_rpc_code code = AL_RPC_OK;

    (void)pthread_mutex_lock(&calls->lock);
    if (al_calls_find(calls, call->spec.id)) {
        *ret_problem = "a request with this id is in flight";
        code = AL_RPC_INVALID_REQUEST;
    } else if (calls->ninflight >= AL_CALLS_MAX) {
        *ret_problem = "too many calls in flight; wait for some to finish";
        code = AL_RPC_INTERNAL_ERROR;
    } else {
        call->next = calls->inflight;
        calls->inflight = call;
        calls->ninflight++;
        schedule_progress(call, al_clock_ms() + AL_PROGRESS_FIRST_MS);
        if (calls->closing)
            cancel_inflight(call);
    }
    (void)pthread_mutex_unlock(&calls->lock);
    return code;
}

static void refuse(struct al_inflight *call, enum al_rpc_code code, const char *problem)
{
    al_reply_error(call->spec.reply, call->spec.id, code, problem);
    inflight_free(call);
}

struct al_inflight *al_calls_register(struct al_calls *calls, struct al_call_spec *spec)
{
    struct al_inflight *call = al_calloc(1, sizeof(*call));
    const char *problem = NULL;
    enum al_rpc_code code;

    call->calls = calls;
    call->cancel = al_cancel_new();
    call->spec = *spec;
    *spec = (struct al_call_spec){ .id = NULL };
    code = try_register(call, &problem);
    if (code == AL_RPC_OK)
        return call;
    refuse(call, code, problem);
    return NULL;
}

void al_calls_refuse(struct al_inflight *call, const char *problem)
{
    if (unregister(call)) {
        refuse(call, AL_RPC_INTERNAL_ERROR, problem);
    } else {
        al_reply_nothing(call->spec.reply);
        inflight_free(call);
    }
}

int al_calls_progress(struct al_calls *calls)
{
    int64_t now = al_clock_ms(), next = INT64_MAX, update_ms;

    (void)pthread_mutex_lock(&calls->lock);
    for (struct al_inflight *call = calls->inflight; call; call = call->next) {
        if (!call->spec.progress_token || call->cancelled)
            continue;
        if (call->progress_due_ms <= now)
            send_progress(call);
        if (call->progress_due_ms < next)
            next = call->progress_due_ms;
    }
    update_ms = al_backlog_update(calls, now);
    next = update_ms < next ? update_ms : next;
    calls->flusher_due_ms = next;
    (void)pthread_mutex_unlock(&calls->lock);
    return next == INT64_MAX ? -1 : (int)(next - now);
}
