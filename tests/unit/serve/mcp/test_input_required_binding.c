// SPDX-License-Identifier: Apache-2.0
/* mcp/input_required.h: an answer counts for one call, as it was shown, once, and for a
 * few minutes. */
#include "tests/unit/serve/mcp/input_required_lib.h"

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
        al_auto(al_freep) char *request_state = ask(*state);
        al_auto(call_clear) struct call call = CALL(YES, request_state);

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
        al_auto(al_freep) char *request_state = ask(*state);
        al_auto(call_clear) struct call moved = CALL(YES, request_state), again = CALL(YES, NULL);

        moved.request = others[i];
        run(*state, &moved);
        assert_int_equal(moved.answer, AL_ANSWER_LATER);
        again.request = others[i]; /* asked about what is there now, and answered */
        again.state = moved.next_state;
        run(*state, &again);
        assert_int_equal(again.answer, AL_ANSWER_ONCE);
        assert_int_equal(bring(*state, YES, request_state), AL_ANSWER_LATER); /* used up, even so */
    }
}

static void counts_once(void **state)
{
    al_auto(al_freep) char *request_state = ask(*state);

    assert_int_equal(bring(*state, YES, request_state), AL_ANSWER_ONCE);
    assert_int_equal(bring(*state, YES, request_state), AL_ANSWER_LATER);
    assert_int_equal(bring(*state, YES, request_state), AL_ANSWER_LATER);
}

static void a_call_without_an_answer_uses_nothing_up(void **state)
{
    al_auto(al_freep) char *request_state = ask(*state);

    assert_int_equal(bring(*state, NULL, request_state), AL_ANSWER_LATER);
    assert_int_equal(bring(*state, YES, request_state), AL_ANSWER_ONCE);
}

static void counts_for_five_minutes(void **state)
{
    static const int64_t ages[] = { AL_REQUEST_STATE_LIFETIME_MS - 1, AL_REQUEST_STATE_LIFETIME_MS,
                                    AL_REQUEST_STATE_LIFETIME_MS + 1 };
    static const enum al_answer answers[] = { AL_ANSWER_ONCE, AL_ANSWER_LATER, AL_ANSWER_LATER };

    for (size_t i = 0; i < COUNT(ages); i++) {
        al_auto(al_freep) char *request_state = ask(*state);

        now_ms += ages[i];
        assert_int_equal(bring(*state, YES, request_state), answers[i]);
    }
}

static enum al_rpc_code code_of(struct al_request_states *states, char *request_state)
{
    al_auto(call_clear) struct call call = CALL(YES, request_state);

    run(states, &call);
    return call.code;
}

/* Others of the same length are none, nor are those of another server. */
static void counts_as_it_was_issued(void **state)
{
    al_auto(al_freep) char *request_state = ask(*state);
    void *others = NULL;

    for (size_t i = 0; request_state[i]; i++) {
        const char right = request_state[i];

        request_state[i] = right == '0' ? '1' : '0';
        assert_int_equal(code_of(*state, request_state), AL_RPC_INVALID_PARAMS);
        request_state[i] = right == 'a' ? 'A' : ' ';
        assert_int_equal(code_of(*state, request_state), AL_RPC_INVALID_PARAMS);
        request_state[i] = '\0';
        assert_int_equal(code_of(*state, request_state), AL_RPC_INVALID_PARAMS);
        request_state[i] = right;
    }
    setup(&others);
    assert_int_equal(code_of(others, request_state), AL_RPC_INVALID_PARAMS);
    teardown(&others);
    assert_int_equal(bring(*state, YES, request_state), AL_ANSWER_ONCE);
}

static void is_one_of_the_newest(void **state)
{
    al_auto(al_freep) char *spent = ask(*state);
    al_auto(al_freep) char *open = ask(*state);

    assert_int_equal(bring(*state, YES, spent), AL_ANSWER_ONCE);
    for (size_t i = 0; i < AL_REQUEST_STATES_MAX - 2; i++)
        free(ask(*state));
    assert_int_equal(bring(*state, YES, open), AL_ANSWER_ONCE);
    assert_int_equal(code_of(*state, spent), AL_RPC_OK); /* known, and asked about anew */
    assert_int_equal(code_of(*state, spent), AL_RPC_INVALID_PARAMS);
    assert_int_equal(bring(*state, YES, open), AL_ANSWER_LATER);
    assert_int_equal(code_of(*state, open), AL_RPC_INVALID_PARAMS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        INPUT_TEST(belongs_to_one_tool_and_its_arguments),
        INPUT_TEST(no_arguments_are_empty_arguments),
        INPUT_TEST(counts_for_what_was_shown_only),
        INPUT_TEST(counts_once),
        INPUT_TEST(a_call_without_an_answer_uses_nothing_up),
        INPUT_TEST(counts_for_five_minutes),
        INPUT_TEST(counts_as_it_was_issued),
        INPUT_TEST(is_one_of_the_newest),
    };

    return cmocka_run_group_tests_name("mcp/input_required_binding", tests, NULL, NULL);
}
