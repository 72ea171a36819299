// SPDX-License-Identifier: Apache-2.0
/* mcp/input_required.h: an answer counts for the call it was given to, as it was shown, once. */
#include "mcp/input_required.h"

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

static int64_t clock_ms(void)
{
    return now_ms;
}

static int setup(void **state)
{
    struct al_request_states *tickets = al_malloc(sizeof(*tickets));

    assert_int_equal(al_request_states_init(tickets, NULL), 0);
    tickets->clock_ms = clock_ms;
    now_ms = 1000000;
    *state = tickets;
    return 0;
}

static int teardown(void **state)
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
    struct al_approval_answer said;
    enum al_answer answer;
    char *next_state; /* of the question it ended with */
};

#define CALL(answers, ticket)                                                                      \
    ((struct call){ .tool = "add",                                                                 \
                    .arguments = ARGUMENTS,                                                        \
                    .responses = (answers),                                                        \
                    .state = (ticket),                                                             \
                    .request = request })

static void call_clear(struct call *call)
{
    free(call->next_state);
    al_approval_answer_clear(&call->said);
}

static json_t *params_of(const struct call *call)
{
    json_t *params = al_json_object();

    if (call->state)
        al_json_set(params, "requestState", al_json_string(call->state));
    if (call->responses)
        al_json_set(params, "inputResponses", json_loads(call->responses, JSON_DECODE_ANY, NULL));
    return params;
}

static char *state_in(const struct al_input_required *round)
{
    al_auto(al_freep) char *text = al_asprintf("{%s}", round->question.buf);
    al_auto(al_json_decrefp) json_t *result = json_loads(text, 0, NULL);

    assert_string_equal(al_json_get_string(result, "resultType"), "input_required");
    return al_strdup(al_json_get_string(result, "requestState"));
}

static void run(struct al_request_states *tickets, struct call *call)
{
    al_auto(al_json_decrefp) json_t *params = params_of(call);
    al_auto(al_json_decrefp) json_t *arguments =
        call->arguments ? json_loads(call->arguments, 0, NULL) : NULL;
    al_auto(al_input_required_clear) struct al_input_required round = AL_INPUT_REQUIRED_INIT;
    const char *problem = NULL;

    round.tickets = tickets;
    round.tool = call->tool;
    round.arguments = arguments;
    call->code = al_input_required_begin(&round, params, &problem);
    assert_true((problem != NULL) == (call->code != AL_RPC_OK));
    if (call->code != AL_RPC_OK)
        return;
    assert_int_equal(al_input_required_ask(&round, &call->request, &call->said, NULL), 0);
    call->answer = call->said.decision;
    if (call->answer == AL_ANSWER_LATER)
        call->next_state = state_in(&round);
    else
        assert_int_equal(round.question.len, 0);
}

/* Ask about `first`, and give its ticket to whoever frees it. */
static char *ask(struct al_request_states *tickets)
{
    al_auto(call_clear) struct call first = CALL(NULL, NULL);

    run(tickets, &first);
    assert_int_equal(first.answer, AL_ANSWER_LATER);
    return al_strdup(first.next_state);
}

/* A call that brings an answer with this ticket; what became of it. */
static enum al_answer bring(struct al_request_states *tickets, const char *responses,
                            const char *ticket)
{
    al_auto(call_clear) struct call call = CALL(responses, ticket);

    run(tickets, &call);
    assert_int_equal(call.code, AL_RPC_OK);
    return call.answer;
}

static void puts_the_question_as_a_form(void **state)
{
    al_auto(al_input_required_clear) struct al_input_required round = AL_INPUT_REQUIRED_INIT;
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;

    round.tickets = *state;
    round.tool = "add";
    assert_int_equal(al_input_required_ask(&round, &request, &answer, NULL), 0);
    al_auto(al_freep) char *text = al_asprintf("{%s}", round.question.buf);
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
        al_auto(al_freep) char *ticket = ask(*state);

        print_message("# %s\n", rows[i].responses ? rows[i].responses : "none");
        assert_int_equal(bring(*state, rows[i].responses, ticket), rows[i].answer);
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
        struct al_input_required round = AL_INPUT_REQUIRED_INIT;
        const char *problem = NULL;

        round.tickets = *state;
        assert_int_equal(al_input_required_begin(&round, json, &problem), AL_RPC_INVALID_PARAMS);
        assert_non_null(problem);
    }
}

static void belongs_to_one_tool_and_its_arguments(void **state)
{
    static const struct {
        const char *tool, *arguments;
        bool same;
    } rows[] = {
        { "add", ARGUMENTS, true },
        { "add", " { \"all\" : false , \"paths\" : [ \"a\", \"\\u0062\" ] } ", true },
        { "restore", ARGUMENTS, false },
        { "ad", ARGUMENTS, false },
        { "add", "{\"paths\":[\"a\",\"b\"]}", false },
        { "add", "{\"paths\":[\"b\",\"a\"],\"all\":false}", false },
        { "add", "{\"paths\":[\"a\",\"b\"],\"all\":true}", false },
        { "add", "{\"paths\":[\"a\",\"b\"],\"all\":0}", false },
        { "add", "{\"paths\":[\"a\",\"b\"],\"all\":false,\"x\":null}", false },
        { "add", "{\"paths\":\"a\",\"all\":false}", false },
        { "add", "{}", false },
        { "add", NULL, false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *ticket = ask(*state);
        al_auto(call_clear) struct call call = CALL(YES, ticket);

        call.tool = rows[i].tool;
        call.arguments = rows[i].arguments;
        run(*state, &call);
        assert_int_equal(call.code, rows[i].same ? AL_RPC_OK : AL_RPC_INVALID_PARAMS);
        if (rows[i].same)
            assert_int_equal(call.answer, AL_ANSWER_ONCE);
    }
}

static void no_arguments_are_empty_arguments(void **state)
{
    al_auto(call_clear) struct call first = CALL(NULL, NULL), second = CALL(YES, NULL);

    first.arguments = NULL;
    run(*state, &first);
    second.arguments = "{}";
    second.state = first.next_state;
    run(*state, &second);
    assert_int_equal(second.answer, AL_ANSWER_ONCE);
}

static void counts_for_what_was_shown_only(void **state)
{
    struct al_approval_request others[] = { request, request, request, request, request, request };

    others[0].state = "0124";
    others[1].detail = "+ another line\n";
    others[2].summary = "Stage 3 file(s)";
    others[3].repository = "/s";
    others[4].operation = "update";
    others[5].always_covers = "everything";
    for (size_t i = 0; i < COUNT(others); i++) {
        al_auto(al_freep) char *ticket = ask(*state);
        al_auto(call_clear) struct call moved = CALL(YES, ticket), again = CALL(YES, NULL);

        moved.request = others[i];
        run(*state, &moved);
        assert_int_equal(moved.answer, AL_ANSWER_LATER);
        again.request = others[i]; /* asked about what is there now, and answered */
        again.state = moved.next_state;
        run(*state, &again);
        assert_int_equal(again.answer, AL_ANSWER_ONCE);
        assert_int_equal(bring(*state, YES, ticket), AL_ANSWER_LATER); /* used up, even so */
    }
}

static void counts_once(void **state)
{
    al_auto(al_freep) char *ticket = ask(*state);

    assert_int_equal(bring(*state, YES, ticket), AL_ANSWER_ONCE);
    assert_int_equal(bring(*state, YES, ticket), AL_ANSWER_LATER);
    assert_int_equal(bring(*state, YES, ticket), AL_ANSWER_LATER);
}

static void a_call_without_an_answer_uses_nothing_up(void **state)
{
    al_auto(al_freep) char *ticket = ask(*state);

    assert_int_equal(bring(*state, NULL, ticket), AL_ANSWER_LATER);
    assert_int_equal(bring(*state, YES, ticket), AL_ANSWER_ONCE);
}

static void counts_for_five_minutes(void **state)
{
    static const int64_t ages[] = { AL_REQUEST_STATE_LIFETIME_MS - 1, AL_REQUEST_STATE_LIFETIME_MS,
                                    AL_REQUEST_STATE_LIFETIME_MS + 1 };
    static const enum al_answer answers[] = { AL_ANSWER_ONCE, AL_ANSWER_LATER, AL_ANSWER_LATER };

    for (size_t i = 0; i < COUNT(ages); i++) {
        al_auto(al_freep) char *ticket = ask(*state);

        now_ms += ages[i];
        assert_int_equal(bring(*state, YES, ticket), answers[i]);
    }
}

static void a_no_is_always_a_no(void **state)
{
    al_auto(al_freep) char *ticket = ask(*state);
    al_auto(call_clear) struct call moved = CALL(NO, ticket);

    moved.request.state = "0124";
    run(*state, &moved);
    assert_int_equal(moved.answer, AL_ANSWER_REJECT);
    assert_int_equal(bring(*state, YES, ticket), AL_ANSWER_LATER); /* and it is not taken back */
    now_ms += AL_REQUEST_STATE_LIFETIME_MS;
    assert_int_equal(bring(*state, NO, ticket), AL_ANSWER_REJECT);
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
        al_auto(al_freep) char *ticket = ask(*state);
        al_auto(call_clear) struct call call = CALL(rows[i].responses, ticket);

        run(*state, &call);
        assert_int_equal(call.answer, AL_ANSWER_REJECT);
        assert_true((call.said.reason != NULL) == (rows[i].reason != NULL));
        if (rows[i].reason)
            assert_string_equal(call.said.reason, rows[i].reason);
    }
}

static void one_answer_is_for_one_question_of_the_call(void **state)
{
    al_auto(al_freep) char *ticket = ask(*state);
    al_auto(al_json_decrefp) json_t *arguments = json_loads(ARGUMENTS, 0, NULL);
    const struct call call = CALL(YES, ticket);
    al_auto(al_json_decrefp) json_t *params = params_of(&call);
    al_auto(al_input_required_clear) struct al_input_required round = AL_INPUT_REQUIRED_INIT;
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    const char *problem;

    round.tickets = *state;
    round.tool = "add";
    round.arguments = arguments;
    assert_int_equal(al_input_required_begin(&round, params, &problem), AL_RPC_OK);
    assert_int_equal(al_input_required_ask(&round, &request, &answer, NULL), 0);
    assert_int_equal(answer.decision, AL_ANSWER_ONCE);
    assert_int_equal(al_input_required_ask(&round, &request, &answer, NULL),
                     0); /* the state moved */
    assert_int_equal(answer.decision, AL_ANSWER_LATER);
    assert_true(round.question.len > 0);
}

#define ROUND_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ROUND_TEST(puts_the_question_as_a_form),
        ROUND_TEST(gives_the_answer_that_was_brought),
        ROUND_TEST(an_answer_without_its_question_is_none),
        ROUND_TEST(what_is_malformed_is_an_error),
        ROUND_TEST(a_state_of_another_type_is_an_error),
        ROUND_TEST(belongs_to_one_tool_and_its_arguments),
        ROUND_TEST(no_arguments_are_empty_arguments),
        ROUND_TEST(counts_for_what_was_shown_only),
        ROUND_TEST(counts_once),
        ROUND_TEST(a_call_without_an_answer_uses_nothing_up),
        ROUND_TEST(counts_for_five_minutes),
        ROUND_TEST(a_no_is_always_a_no),
        ROUND_TEST(a_no_brings_its_reason),
        ROUND_TEST(one_answer_is_for_one_question_of_the_call),
    };

    return cmocka_run_group_tests_name("mcp/round", tests, NULL, NULL);
}
