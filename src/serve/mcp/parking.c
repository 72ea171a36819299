// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/parking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/secret.h"
#include "call/call.h"
#include "serve/mcp/inflight.h"

#define PREFIX      "airlock-question-"
#define REQUEST_KEY "question"

/** The random part in hexadecimal. */
#define TOKEN_BYTES 16

/* Take the request away from the call.  The id "" is no JSON, so no request has it. */
static bool park(struct al_inflight *call, struct al_client_request *parked, char **ret_id,
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

/* The answer; NULL: there is none, and the call is not answered either. */
static json_t *unpark(struct al_inflight *call, const struct al_client_request *parked)
{
    al_hold(&call->calls->lock);
    call->parked = NULL;
    call->cancelled |= !parked->result;
    return parked->result;
}

int al_parking_ask(struct al_inflight *call, const json_t *params, struct al_cancel *cancel,
                   json_t **ret_result, struct al_error *err)
{
    struct al_client_requests *requests = &call->spec.scope->client_requests;
    al_auto(al_freep) char *id = NULL;
    struct al_client_request parked;
    struct al_message_sink *sink;
    char token[2 * TOKEN_BYTES + 1];
    bool parks;
    int r;

    if (!al_random_hex(TOKEN_BYTES, token))
        return al_error_errno(err, errno, "cannot get random bytes");
    r = al_client_request_begin(requests, &parked, al_asprintf(PREFIX "%s", token), err);
    if (r < 0)
        return r;
    al_auto(al_freep) char *state = parked.id;

    parks = park(call, &parked, &id, &sink);
    if (parks)
        send_question(call, id, sink, state, params);
    (void)al_client_request_await(requests, &parked, AL_PARKED_MS, NULL, cancel);
    *ret_result = parks ? unpark(call, &parked) : NULL;
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

    while (call && (call->spec.scope != scope || !call->parked || call->parked->answered ||
                    call->cancelled || strcmp(call->parked->id, state) != 0))
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
static void resume(struct al_inflight *call, struct al_call_spec *spec)
{
    free(call->spec.id);
    call->spec.id = al_take(&spec->id);
    call->spec.progress_token = al_take(&spec->progress_token);
    call->spec.sink = spec->sink;
    call->progress_due_ms = al_clock_ms() + AL_PROGRESS_FIRST_MS;
    if (call->spec.progress_token)
        al_calls_schedule(call->calls, call->progress_due_ms);
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
    if (call && al_calls_find(call->calls, spec->scope, spec->id))
        return "a request with this id is in flight";
    if (!call || !al_client_request_answer(&spec->scope->client_requests, call->parked, response))
        return "no call waits with this requestState: it was answered, or nobody answered in time; "
               "make the call again without it";
    return NULL;
}

enum al_rpc_code al_parking_resume(struct al_calls *calls, struct al_call_spec *spec,
                                   const char *tool, const json_t *params, const char **ret_problem)
{
    const json_t *response =
        json_object_get(json_object_get(params, "inputResponses"), REQUEST_KEY);
    struct al_inflight *call;

    al_hold(&calls->lock);
    call = find_parked(calls, spec->scope, al_json_get_string(params, "requestState"));
    *ret_problem = try_answer(call, spec, tool, response);
    if (!*ret_problem)
        resume(call, spec);
    return *ret_problem ? AL_RPC_INVALID_PARAMS : AL_RPC_OK;
}
