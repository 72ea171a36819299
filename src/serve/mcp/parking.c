// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/parking.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/secret.h"
#include "call/call.h"
#include "proc/cancel.h"
#include "serve/mcp/inflight.h"

#define PREFIX      "airlock-question-"
#define REQUEST_KEY "question"

/** The random part in hexadecimal. */
#define TOKEN_BYTES 16

/* On the stack of the call that waits; the lock of `calls` guards it. */
struct al_parked {
    char state[sizeof(PREFIX) + 2 * TOKEN_BYTES];
    int event_fd; /* readable once answered */
    json_t *result;
};

static int make_state(struct al_parked *parked, struct al_error *err)
{
    memcpy(parked->state, PREFIX, strlen(PREFIX));
    return al_random_hex(TOKEN_BYTES, parked->state + strlen(PREFIX))
               ? 0
               : al_error_errno(err, errno, "cannot get random bytes");
}

/* Take the request away from the call.  The id "" is no JSON, so no request has it. */
static bool park(struct al_inflight *call, struct al_parked *parked, char **ret_id,
                 struct al_message_sink **ret_sink)
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
        call->parked = parked;
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

static void wait_for_answer(const struct al_parked *parked, struct al_cancel *cancel)
{
    struct pollfd fds[] = {
        { .fd = parked->event_fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
    };
    const int64_t deadline = al_clock_ms() + AL_PARKED_MS;
    int64_t left = AL_PARKED_MS;

    while (left > 0 && poll(fds, AL_COUNT(fds), (int)left) < 0 && errno == EINTR)
        left = deadline - al_clock_ms();
}

/* The answer; NULL: there is none, and the call is not answered either. */
static json_t *unpark(struct al_inflight *call, struct al_parked *parked)
{
    al_hold(&call->calls->lock);
    call->parked = NULL;
    call->cancelled |= !parked->result;
    return parked->result;
}

int al_parking_ask(struct al_inflight *call, const json_t *params, struct al_cancel *cancel,
                   json_t **ret_result, struct al_error *err)
{
    al_auto(al_closep) int event_fd = eventfd(0, EFD_CLOEXEC);
    struct al_parked parked = { .event_fd = event_fd };
    al_auto(al_freep) char *id = NULL;
    struct al_message_sink *sink;
    int r = event_fd < 0 ? al_error_errno(err, errno, "cannot create an event descriptor")
                         : make_state(&parked, err);

    if (r < 0)
        return r;
    if (!park(call, &parked, &id, &sink))
        return al_error_set(err, AL_ERR_CANCELLED, "cancelled before the client was asked");
    send_question(call, id, sink, parked.state, params);
    wait_for_answer(&parked, cancel);
    *ret_result = unpark(call, &parked);
    return *ret_result ? 0 : al_error_set(err, AL_ERR_CANCELLED, "the client did not answer");
}

bool al_parking_is_answer(const json_t *params)
{
    const char *state = al_json_get_string(params, "requestState");

    return state && al_starts_with(state, PREFIX);
}

/* Caller holds the lock.  The parked call with this state that has no answer yet; NULL: none. */
static struct al_inflight *find_parked(const struct al_calls *calls,
                                       const struct al_call_scope *scope, const char *state)
{
    struct al_inflight *call = calls->inflight;

    while (call && (call->spec.scope != scope || !call->parked || call->parked->result ||
                    call->cancelled || strcmp(call->parked->state, state) != 0))
        call = call->next;
    return call;
}

static bool is_same_call(const struct al_inflight *call, const struct al_call_spec *spec,
                         const char *tool)
{
    const json_t *own = call->spec.arguments, *given = spec->arguments;

    return !strcmp(call->spec.tool->tool->name, tool) && !spec->arguments_error &&
           (json_equal(own, given) || (!json_object_size(own) && !json_object_size(given)));
}

/* Caller holds the lock. */
static void resume(struct al_inflight *call, struct al_call_spec *spec, const json_t *response)
{
    free(call->spec.id);
    call->spec.id = al_take(&spec->id);
    call->spec.progress_token = al_take(&spec->progress_token);
    call->spec.sink = spec->sink;
    call->progress_due_ms = al_clock_ms() + AL_PROGRESS_FIRST_MS;
    if (call->spec.progress_token)
        al_calls_schedule(call->calls, call->progress_due_ms);
    call->parked->result = json_deep_copy(response); /* the message belongs to the reader */
    (void)eventfd_write(call->parked->event_fd, 1);
}

enum al_rpc_code al_parking_resume(struct al_calls *calls, struct al_call_spec *spec,
                                   const char *tool, const json_t *params, const char **ret_problem)
{
    const json_t *response =
        json_object_get(json_object_get(params, "inputResponses"), REQUEST_KEY);
    enum al_rpc_code code = AL_RPC_INVALID_PARAMS;
    struct al_inflight *call;

    al_hold(&calls->lock);
    call = find_parked(calls, spec->scope, al_json_get_string(params, "requestState"));
    if (!call)
        *ret_problem = "no call waits with this requestState: it was answered, or nobody answered "
                       "in time; make the call again without it";
    else if (!is_same_call(call, spec, tool))
        *ret_problem = "requestState belongs to a call of another tool or with other arguments; "
                       "make the call again without it";
    else if (!json_is_object(response))
        *ret_problem = "inputResponses lacks 'question', an object";
    else if (al_calls_find(calls, spec->scope, spec->id))
        *ret_problem = "a request with this id is in flight";
    else
        code = AL_RPC_OK;
    if (code == AL_RPC_OK)
        resume(call, spec, response);
    return code;
}
