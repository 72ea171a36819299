// SPDX-License-Identifier: Apache-2.0
/* mcp/input_required.h: an answer counts for the question it was given to. */
#include "tests/unit/serve/mcp/input_required_lib.h"

static void puts_the_question_as_a_form(void **state)
{
    al_auto(al_input_required_clear) struct al_input_required input = AL_INPUT_REQUIRED_INIT;
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;

    input.request_states = *state;
    input.tool = "add";
    al_input_required_ask(&input, &request, &answer);
    al_auto(al_freep) char *text = al_asprintf("{%s}", input.result.buf);
    al_auto(al_json_decrefp) json_t *result = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *question = json_object_get(json_object_get(result, "inputRequests"), "approve");
    const json_t *params = json_object_get(question, "params");

    assert_int_equal(json_object_size(result), 3);
    assert_string_equal(al_json_get_string(question, "method"), "elicitation/create");
    assert_int_equal(json_object_size(question), 2);
    assert_string_equal(al_json_get_string(params, "mode"), "form");
    assert_string_equal(al_json_get_string(params, "message"),
                        "Stage 2 file(s)\nIn /r, by add (add)\n\"always\" covers every add\n\n"
                        "+ one line\n");
    assert_string_equal(al_json_get_string(json_object_get(params, "requestedSchema"), "type"),
                        "object");
}

static void gives_the_answer_that_was_brought(void **state)
{
    static const struct {
        const char *responses;
        enum al_answer answer;
    } rows[] = {
        { YES, AL_ANSWER_ONCE },
        { "{\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"always\"}}}",
          AL_ANSWER_ALWAYS },
        { "{\"x\":7,\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}}",
          AL_ANSWER_ONCE },
        { "{\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\"}}}",
          AL_ANSWER_REJECT },
        { "{\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"yes\"}}}",
          AL_ANSWER_REJECT },
        { "{\"approve\":{\"action\":\"accept\",\"content\":{}}}", AL_ANSWER_REJECT },
        { "{\"approve\":{\"action\":\"accept\"}}", AL_ANSWER_REJECT },
        { "{\"approve\":{\"content\":{\"decision\":\"once\"}}}", AL_ANSWER_REJECT },
        { NO, AL_ANSWER_REJECT },
        { "{\"approve\":{\"action\":\"cancel\"}}", AL_ANSWER_REJECT },
        { "{\"approve\":{}}", AL_ANSWER_REJECT },
        { "{\"approve\":null}", AL_ANSWER_REJECT },
        { "{\"approve\":\"once\"}", AL_ANSWER_REJECT },
        { "{\"approve\":[]}", AL_ANSWER_REJECT },
        /* no answer: asked again */
        { NULL, AL_ANSWER_LATER },
        { "{}", AL_ANSWER_LATER },
        { "{\"Approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}}",
          AL_ANSWER_LATER },
        { "{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}", AL_ANSWER_LATER },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *request_state = ask(*state);

        print_message("# %s\n", rows[i].responses ? rows[i].responses : "none");
        assert_int_equal(bring(*state, rows[i].responses, request_state), rows[i].answer);
    }
}

static void an_answer_without_its_question_is_none(void **state)
{
    assert_int_equal(bring(*state, YES, NULL), AL_ANSWER_LATER);
    assert_int_equal(bring(*state, NO, NULL), AL_ANSWER_LATER);
}

static void what_is_malformed_is_an_error(void **state)
{
    static const char *const states[] = { "", "x", "null", "AAAA" };
    static const char *const responses[] = { "[]", "null", "\"once\"", "7" };

    for (size_t i = 0; i < COUNT(states); i++) {
        al_auto(call_clear) struct call call = CALL(YES, states[i]);

        run(*state, &call);
        assert_int_equal(call.code, AL_RPC_INVALID_PARAMS);
    }
    for (size_t i = 0; i < COUNT(responses); i++) {
        al_auto(call_clear) struct call call = CALL(responses[i], NULL);

        run(*state, &call);
        assert_int_equal(call.code, AL_RPC_INVALID_PARAMS);
    }
}

static void a_state_of_another_type_is_an_error(void **state)
{
    static const char *const params[] = { "{\"requestState\":null}", "{\"requestState\":7}",
                                          "{\"requestState\":{}}" };

    for (size_t i = 0; i < COUNT(params); i++) {
        al_auto(al_json_decrefp) json_t *json = json_loads(params[i], 0, NULL);
        struct al_input_required input = AL_INPUT_REQUIRED_INIT;
        const char *problem = NULL;

        input.request_states = *state;
        assert_int_equal(al_input_required_begin(&input, json, &problem), AL_RPC_INVALID_PARAMS);
        assert_non_null(problem);
    }
}

static void a_no_is_always_a_no(void **state)
{
    al_auto(al_freep) char *request_state = ask(*state);
    al_auto(call_clear) struct call moved = CALL(NO, request_state);

    moved.request.state = "0124";
    run(*state, &moved);
    assert_int_equal(moved.answer, AL_ANSWER_REJECT);
    assert_int_equal(bring(*state, YES, request_state),
                     AL_ANSWER_LATER); /* and it is not taken back */
    now_ms += AL_REQUEST_STATE_LIFETIME_MS;
    assert_int_equal(bring(*state, NO, request_state), AL_ANSWER_REJECT);
}

static void a_no_brings_its_reason(void **state)
{
    static const struct {
        const char *responses, *reason;
    } rows[] = {
        { "{\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\","
          "\"reason\":\"not on main\"}}}",
          "not on main" },
        { "{\"approve\":{\"action\":\"decline\",\"content\":{\"reason\":\"no\"}}}", "no" },
        { "{\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\","
          "\"reason\":7}}}",
          NULL },
        { NO, NULL },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *request_state = ask(*state);
        al_auto(call_clear) struct call call = CALL(rows[i].responses, request_state);

        run(*state, &call);
        assert_int_equal(call.answer, AL_ANSWER_REJECT);
        assert_true((call.approval.reason != NULL) == (rows[i].reason != NULL));
        if (rows[i].reason)
            assert_string_equal(call.approval.reason, rows[i].reason);
    }
}

static void one_answer_is_for_one_question_of_the_call(void **state)
{
    al_auto(al_freep) char *request_state = ask(*state);
    al_auto(al_json_decrefp) json_t *arguments = json_loads(ARGUMENTS, 0, NULL);
    const struct call call = CALL(YES, request_state);
    al_auto(al_json_decrefp) json_t *params = params_of(&call);
    al_auto(al_input_required_clear) struct al_input_required input = AL_INPUT_REQUIRED_INIT;
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    const char *problem;

    input.request_states = *state;
    input.tool = "add";
    input.arguments = arguments;
    assert_int_equal(al_input_required_begin(&input, params, &problem), AL_RPC_OK);
    al_input_required_ask(&input, &request, &answer);
    assert_int_equal(answer.decision, AL_ANSWER_ONCE);
    al_input_required_ask(&input, &request, &answer); /* the state moved */
    assert_int_equal(answer.decision, AL_ANSWER_LATER);
    assert_true(input.result.len > 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        INPUT_TEST(puts_the_question_as_a_form),
        INPUT_TEST(gives_the_answer_that_was_brought),
        INPUT_TEST(an_answer_without_its_question_is_none),
        INPUT_TEST(what_is_malformed_is_an_error),
        INPUT_TEST(a_state_of_another_type_is_an_error),
        INPUT_TEST(a_no_is_always_a_no),
        INPUT_TEST(a_no_brings_its_reason),
        INPUT_TEST(one_answer_is_for_one_question_of_the_call),
    };

    return cmocka_run_group_tests_name("mcp/input_required", tests, NULL, NULL);
}
