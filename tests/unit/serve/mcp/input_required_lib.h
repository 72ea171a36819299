// SPDX-License-Identifier: Apache-2.0
/* A call that asks for input and the call that brings the answer, for the tests of
 * serve/mcp/input_required.h. */
#ifndef TESTS_UNIT_MCP_INPUT_REQUIRED_LIB_H
#define TESTS_UNIT_MCP_INPUT_REQUIRED_LIB_H

#include "serve/mcp/input_required.h"

#include "tests/lib/assert.h"

#define YES       "{\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}}"
#define NO        "{\"approve\":{\"action\":\"decline\"}}"

#define ARGUMENTS "{\"paths\":[\"a\",\"b\"],\"all\":false}"

static const struct al_approval_request request = {
    .tool = "add",
    .operation = "add",
    .summary = "Stage 2 file(s)",
    .detail = "+ one line\n",
    .repository = "/r",
    .risk = "medium",
    .state = "0123",
    .always_covers = "every add",
};

static int64_t now_ms;

static inline int64_t clock_ms(void)
{
    return now_ms;
}

static inline int setup(void **state)
{
    struct al_request_states *request_states = al_malloc(sizeof(*request_states));

    al_request_states_init(request_states);
    request_states->clock_ms = clock_ms;
    now_ms = 1000000;
    *state = request_states;
    return 0;
}

static inline int teardown(void **state)
{
    al_request_states_clear(*state);
    free(*state);
    return 0;
}

/* One call: what it brings, and what it was answered. */
struct call {
    const char *tool, *arguments; /* JSON; NULL: none */
    const char *responses;        /* JSON; NULL: none */
    const char *state;            /* NULL: none */
    struct al_approval_request request;

    enum al_rpc_code code;
    struct al_approval_answer approval;
    enum al_answer answer;
    char *next_state; /* the requestState it ended with */
};

#define CALL(answers, request_state)                                                               \
    ((struct call){ .tool = "add",                                                                 \
                    .arguments = ARGUMENTS,                                                        \
                    .responses = (answers),                                                        \
                    .state = (request_state),                                                      \
                    .request = request })

static inline void call_clear(struct call *call)
{
    free(call->next_state);
    al_approval_answer_clear(&call->approval);
}

static inline json_t *params_of(const struct call *call)
{
    json_t *params = al_json_object();

    if (call->state)
        al_json_set(params, "requestState", al_json_string(call->state));
    if (call->responses)
        al_json_set(params, "inputResponses", json_loads(call->responses, JSON_DECODE_ANY, NULL));
    return params;
}

static inline char *state_in(const struct al_input_required *input)
{
    al_auto(al_freep) char *text = al_asprintf("{%s}", input->result.buf);
    al_auto(al_json_decrefp) json_t *result = json_loads(text, 0, NULL);

    assert_string_equal(al_json_get_string(result, "resultType"), "input_required");
    return al_strdup(al_json_get_string(result, "requestState"));
}

static inline void run(struct al_request_states *request_states, struct call *call)
{
    al_auto(al_json_decrefp) json_t *params = params_of(call);
    al_auto(al_json_decrefp) json_t *arguments =
        call->arguments ? json_loads(call->arguments, 0, NULL) : NULL;
    al_auto(al_input_required_clear) struct al_input_required input = AL_INPUT_REQUIRED_INIT;
    const char *problem = NULL;

    input.request_states = request_states;
    input.tool = call->tool;
    input.arguments = arguments;
    call->code = al_input_required_begin(&input, params, &problem);
    assert_true((problem != NULL) == (call->code != AL_RPC_OK));
    if (call->code != AL_RPC_OK)
        return;
    al_input_required_ask(&input, &call->request, &call->approval);
    call->answer = call->approval.decision;
    if (call->answer == AL_ANSWER_LATER)
        call->next_state = state_in(&input);
    else
        assert_int_equal(input.result.len, 0);
}

/* Make a first call, which asks.  Returns its requestState; the caller frees it. */
static inline char *ask(struct al_request_states *request_states)
{
    al_auto(call_clear) struct call first = CALL(NULL, NULL);

    run(request_states, &first);
    assert_int_equal(first.answer, AL_ANSWER_LATER);
    return al_strdup(first.next_state);
}

/* Make a call with an answer and a requestState.  Returns the decision. */
static inline enum al_answer bring(struct al_request_states *request_states, const char *responses,
                                   const char *request_state)
{
    al_auto(call_clear) struct call call = CALL(responses, request_state);

    run(request_states, &call);
    assert_int_equal(call.code, AL_RPC_OK);
    return call.answer;
}

#define INPUT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
