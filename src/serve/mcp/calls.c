// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/calls.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/progress.h"
#include "base/sink.h"
#include "call/call.h"
#include "call/mounts.h"
#include "call/tool.h"
#include "proc/cancel.h"
#include "serve/mcp/inflight.h"

/* The key of the approval in inputRequests and inputResponses. */
#define REQUEST_KEY "approve"

static void hash_string(struct sha256_ctx *sum, const char *text)
{
    sha256_update(sum, strlen(text) + 1, (const uint8_t *)text);
}

static int hash_piece(const char *data, size_t len, void *sum)
{
    sha256_update(sum, len, (const uint8_t *)data);
    return 0;
}

static struct al_request_state_digest digest_of(struct sha256_ctx *sum)
{
    struct al_request_state_digest digest;

    sha256_digest(sum, sizeof(digest.bytes), digest.bytes);
    return digest;
}

/* A digest of the parsed arguments: white space and the order of names do not matter. */
static struct al_request_state_digest digest_call(const struct al_input_required *input)
{
    struct sha256_ctx sum;

    sha256_init(&sum);
    hash_string(&sum, input->tool);
    if (!input->arguments)
        (void)hash_piece("{}", 2, &sum);
    else if (json_dump_callback(input->arguments, hash_piece, &sum, JSON_COMPACT | JSON_SORT_KEYS) <
             0)
        abort(); /* not an object, or out of memory */
    return digest_of(&sum);
}

static struct al_request_state_digest digest_shown(const struct al_approval_request *request)
{
    struct sha256_ctx sum;

    sha256_init(&sum);
    hash_string(&sum, request->operation);
    hash_string(&sum, request->summary);
    hash_string(&sum, request->detail);
    hash_string(&sum, request->repository);
    hash_string(&sum, request->state);
    hash_string(&sum, request->always_covers ? request->always_covers : "");
    return digest_of(&sum);
}

static bool same(const struct al_request_state_digest *a, const struct al_request_state_digest *b)
{
    return !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

enum al_rpc_code al_input_required_begin(struct al_input_required *input, const json_t *params,
                                         const char **ret_problem)
{
    const json_t *state = json_object_get(params, "requestState");
    const json_t *responses = json_object_get(params, "inputResponses");
    const json_t *response = json_object_get(responses, REQUEST_KEY);
    struct al_request_state_digest call;

    if (responses && !json_is_object(responses)) {
        *ret_problem = "inputResponses must be an object";
        return AL_RPC_INVALID_PARAMS;
    }
    if (!state)
        return AL_RPC_OK; /* an answer without requestState is ignored */
    if (!json_is_string(state) ||
        !al_request_state_read(input->request_states, json_string_value(state),
                               json_string_length(state), &input->request_state)) {
        *ret_problem = "requestState was not issued by this server process, or was changed; "
                       "make the call again without it";
        return AL_RPC_INVALID_PARAMS;
    }
    call = digest_call(input);
    if (!same(&call, &input->request_state.call)) {
        *ret_problem = "requestState belongs to a call of another tool or with other arguments; "
                       "make the call again without it";
        return AL_RPC_INVALID_PARAMS;
    }
    if (response)
        al_approval_form_answer(response, &input->answer);
    return AL_RPC_OK;
}

void al_input_required_clear(struct al_input_required *input)
{
    al_str_clear(&input->result);
    al_approval_answer_clear(&input->answer);
    *input = AL_INPUT_REQUIRED_INIT;
}

static int require_input(struct al_input_required *input, const struct al_approval_request *request,
                         const struct al_request_state_digest *shown,
                         struct al_approval_answer *ret_answer, struct al_error *err)
{
    const struct al_request_state_digest call = digest_call(input);
    al_auto(al_json_decrefp) json_t *params = NULL;
    char state[AL_REQUEST_STATE_CHARS + 1];
    int r;

    r = al_request_state_issue(input->request_states, &call, shown, state, err);
    if (r < 0)
        return r;
    params = al_approval_form_params(AL_APPROVAL_FORM_RESULT, request);
    al_str_reset(&input->result);
    al_str_adds(&input->result,
                "\"resultType\":\"input_required\",\"inputRequests\":{\"" REQUEST_KEY
                "\":{\"method\":\"elicitation/create\",\"params\":");
    al_json_dump(params, false, &input->result);
    al_str_addf(&input->result, "}},\"requestState\":\"%s\"", state);
    ret_answer->decision = AL_ANSWER_LATER;
    return 0;
}

int al_input_required_ask(struct al_input_required *input,
                          const struct al_approval_request *request,
                          struct al_approval_answer *ret_answer, struct al_error *err)
{
    const struct al_request_state_digest shown = digest_shown(request);
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = input->answer;
    bool counts;

    input->answer = AL_APPROVAL_ANSWER_INIT; /* it answers one request of the call only */
    if (answer.decision == AL_ANSWER_NONE)
        return require_input(input, request, &shown, ret_answer, err);
    counts = al_request_state_spend(input->request_states, &input->request_state) &&
             same(&shown, &input->request_state.shown);
    if (!counts && answer.decision != AL_ANSWER_REJECT)
        return require_input(input, request, &shown, ret_answer, err);
    *ret_answer = answer;
    answer = AL_APPROVAL_ANSWER_INIT;
    return 0;
}

void al_call_scope_init(struct al_call_scope *scope, const struct al_session *session)
{
    *scope =
        (struct al_call_scope){ .session = session, .changes = { .max = 1, .in_order = true } };
    al_client_requests_init(&scope->client_requests);
    atomic_init(&scope->refs, 1);
}

void al_call_scope_clear(struct al_call_scope *scope)
{
    al_client_requests_clear(&scope->client_requests);
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
    *calls = (struct al_calls){ .options = *options,
                                .reads = { .max = AL_READS_MAX },
                                .progress_due_ms = INT64_MAX };
    (void)pthread_mutex_init(&calls->lock, NULL);
    (void)pthread_cond_init(&calls->idle, NULL);
}

void al_inflight_free(struct al_inflight *call)
{
    struct al_calls *calls = call->calls;
    struct al_call_scope *scope = call->spec.scope;

    al_pool_leave(calls->options.pool, &call->task);
    (void)pthread_mutex_lock(&calls->lock);
    if (--calls->nunanswered == 0)
        (void)pthread_cond_broadcast(&calls->idle);
    (void)pthread_mutex_unlock(&calls->lock);
    free(call->spec.id);
    free(call->spec.progress_token);
    free(call->spec.client);
    free(call->spec.mounted_tool);
    al_mounted_list_unref(scope->session->mounts, call->mounted);
    free(call->last_progress);
    json_decref(call->spec.arguments);
    al_input_required_clear(&call->spec.input_required);
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

struct al_inflight *al_calls_find(struct al_calls *calls, const struct al_call_scope *scope,
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
    call = al_calls_find(calls, scope, id);
    if (call)
        cancel_inflight(call);
}

/* The thread is woken only if it would come too late: waking it for each call with a progress
 * token costs 2 % of a short call. */
void al_calls_schedule(struct al_calls *calls, int64_t at_ms)
{
    if (at_ms < calls->progress_due_ms) {
        calls->progress_due_ms = at_ms;
        (void)eventfd_write(calls->options.wake_fd, 1);
    }
}

/* Caller holds the lock. */
static void schedule_progress(struct al_inflight *call, int64_t at_ms)
{
    if (!call->spec.progress_token)
        return;
    call->progress_due_ms = at_ms;
    al_calls_schedule(call->calls, at_ms);
}

void al_calls_set_waiting(struct al_inflight *call, const char *waiting_for)
{
    al_hold(&call->calls->lock);
    call->waiting_for = waiting_for;
    if (waiting_for)
        schedule_progress(call, al_clock_ms());
}

void al_calls_set_waiting_aside(struct al_inflight *call, const char *waiting_for)
{
    struct al_calls *calls = call->calls;

    al_calls_set_waiting(call, waiting_for);
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
void al_calls_report(void *payload, const char *line)
{
    struct al_inflight *call = payload;

    al_hold(&call->calls->lock);
    free(call->last_progress);
    call->last_progress = al_strdup(line);
    if (line && call->spec.progress_token && !call->cancelled &&
        al_clock_ms() - call->progress_sent_ms >= AL_PROGRESS_STEP_MS)
        send_progress(call);
}

bool al_calls_unregister(struct al_inflight *call)
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
    schedule_progress(call, al_clock_ms() + AL_PROGRESS_FIRST_MS);
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
    is_known = al_calls_find(calls, scope, call->spec.id) != NULL;
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

static void run_task(struct al_task *task)
{
    al_calls_run((struct al_inflight *)task);
}

/* What the call waits for before it begins; NULL: nothing. */
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

    call->task = (struct al_task){ .run = run_task, .gates = { gate_of(calls, spec) } };
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
        al_inflight_free(call);
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
    calls->progress_due_ms = next;
    return next == INT64_MAX ? -1 : (int)(next - now);
}
