// SPDX-License-Identifier: Apache-2.0
/* A call on its thread: what it asks the client, what it runs, and its answer. */
#include <poll.h>

#include "base/progress.h"
#include "call/call.h"
#include "call/mounts.h"
#include "proc/cancel.h"
#include "serve/mcp/approval_form.h"
#include "serve/mcp/calls.h"
#include "serve/mcp/client_request.h"
#include "serve/mcp/inflight.h"
#include "serve/mcp/parking.h"

/* Ask the client, and let others go on meanwhile.  A modern client is asked with the result of the
 * call's request.  AL_ERR_AGAIN: too many questions wait. */
static int ask_client(struct al_inflight *call, const char *waiting_for,
                      const struct al_client_question *question, struct al_cancel *cancel,
                      json_t **ret_result, struct al_error *err)
{
    int r;

    *ret_result = NULL;
    al_calls_set_waiting_aside(call, waiting_for);
    r = call->spec.form == AL_APPROVAL_FORM_RESULT
            ? al_parking_ask(call, question->params, cancel, ret_result, err)
            : al_client_requests_ask(&call->spec.scope->client_requests, call->spec.sink, question,
                                     cancel, ret_result, err);
    al_calls_set_waiting_aside(call, NULL);
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

    if (call->spec.form == AL_APPROVAL_FORM_RESULT)
        return al_input_required_ask(&call->spec.input_required, request, ret_answer, err);
    params = al_approval_form_params(call->spec.form, request);
    r = ask_client(call, "waiting for approval",
                   &(struct al_client_question){ .method = "elicitation/create",
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
static void set_waiting(void *payload, const char *waiting_for)
{
    al_calls_set_waiting_aside(payload, waiting_for);
}

static int sample_text(void *payload, const struct al_sampling_request *request,
                       struct al_cancel *cancel, char **ret_text, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *params = al_sampling_params(request), *result = NULL;
    const int r = ask_client(payload, "waiting for the client's model",
                             &(struct al_client_question){ .method = "sampling/createMessage",
                                                           .params = params,
                                                           .timeout_ms = request->timeout_ms },
                             cancel, &result, err);

    *ret_text = result ? al_sampling_text(result) : NULL;
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
                   &(struct al_client_question){
                       .method = method, .params = params, .timeout_ms = AL_UPSTREAM_QUESTION_MS },
                   cancel, ret_result, err);
    return r == AL_ERR_AGAIN ? 0 : r;
}

static bool can_be_asked(const struct al_inflight *call)
{
    return call->spec.form != AL_APPROVAL_FORM_NONE || call->spec.sampling;
}

/* Whether the call ends with an InputRequiredResult. */
static bool requires_input(const struct al_inflight *call, const struct al_result *result)
{
    return call->spec.input_required.result.len && result->status == AL_ERR_APPROVAL_REQUIRED;
}

static void answer(struct al_inflight *call, const struct al_result *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (!al_calls_unregister(call)) {
        al_reply_nothing(call->spec.sink);
        return;
    }
    al_rpc_begin_result(&line, call->spec.id);
    if (requires_input(call, result))
        al_str_addf(&line, "{%s,\"_meta\":{%s}}", call->spec.input_required.result.buf,
                    call->spec.extra->meta);
    else
        al_result_dump_with(result, call->spec.extra, &line);
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
    al_calls_set_waiting(call, "waiting for the files that the worker file names");
    while (!al_cancel_fired(ready) && !al_cancel_fired(call->cancel))
        (void)poll(wait, AL_COUNT(wait), -1);
    al_calls_set_waiting(call, NULL);
}

static void run_tool(struct al_inflight *call)
{
    const struct al_approver approver = {
        .name = "elicitation",
        .ask = approve,
        .payload = call,
        .ends_call = call->spec.form == AL_APPROVAL_FORM_RESULT,
        .has_answer = call->spec.input_required.answer.decision != AL_ANSWER_NONE,
    };
    const struct al_waiting waiting = { .set = set_waiting, .payload = call };
    const struct al_progress progress = { .report = al_calls_report, .payload = call };
    const struct al_sampler sampler = { .sample = sample_text, .payload = call };
    const struct al_asker asker = { .ask = pass_on, .payload = call };
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
    } else if (al_calls_unregister(call)) {
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
    if (al_calls_unregister(call))
        al_reply_send(call->spec.sink, &line);
    else
        al_reply_nothing(call->spec.sink);
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
    al_inflight_free(call);
}
