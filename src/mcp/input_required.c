// SPDX-License-Identifier: Apache-2.0
#include "mcp/input_required.h"

#include <nettle/sha2.h>
#include <stdlib.h>

#include "mcp/approval_form.h"

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
