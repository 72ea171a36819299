// SPDX-License-Identifier: Apache-2.0
/* mcp/elicitation.h: only a clear approval counts, and a cancelled call withdraws its request. */
#include "serve/mcp/calls.h"

#include "tests/lib/assert.h"
#include "tests/mcp/client.h"
#include "tests/mcp/fake_pipeline.h"

#define ASK                                                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"}}"

#define CANCEL_FIRST                                                                               \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"

static int setup(void **state)
{
    *state = client_start(fake_session(), false);
    return 0;
}

static int teardown(void **state)
{
    client_finish(*state);
    return 0;
}

static int no_teardown(void **state)
{
    (void)state;
    return 0;
}

/* Read the question; the caller frees its id (as JSON). */
static char *read_question(struct client *client)
{
    al_auto(al_json_decrefp) json_t *message = client_read(client);
    struct al_str id = AL_STR_INIT;

    assert_string_equal(al_json_get_string(message, "method"), "elicitation/create");
    al_json_dump(json_object_get(message, "id"), false, &id);
    return al_str_detach(&id);
}

#define NO_DECISION                                                                                \
    "reject: the client accepted without a decision of the user's, which is once, always or "      \
    "reject"

static void only_a_plain_yes_approves(void **state)
{
    static const struct {
        const char *response; /* a member of the message */
        const char *answer;
    } rows[] = {
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}", "once" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"always\"}}", "always" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\",\"x\":1}}",
          "once" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\"}}", "reject" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\","
          "\"reason\":\" not\\non main \\u001b[2J\"}}",
          "reject: not on main" },
        { "\"result\":{\"action\":\"decline\",\"content\":{\"reason\":\"why\"}}", "reject: why" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\","
          "\"reason\":\" \\n\"}}",
          "reject" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\","
          "\"reason\":[\"why\"]}}",
          "reject" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\","
          "\"reason\":\"fine\"}}",
          "once" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"reason\":\"once\"}}", "reject: once" },
        { "\"result\":{\"action\":\"accept\"}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":{}}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":null}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":\"once\"}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":[\"once\"]}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"\"}}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"Once\"}}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once \"}}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\\u0000\"}}",
          NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":true}}", NO_DECISION },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":[\"once\"]}}", NO_DECISION },
        { "\"result\":{\"action\":\"Accept\",\"content\":{\"decision\":\"once\"}}", "reject" },
        { "\"result\":{\"action\":\"decline\",\"content\":{\"decision\":\"once\"}}", "reject" },
        { "\"result\":{\"action\":\"cancel\"}", "reject" },
        { "\"result\":{\"action\":7,\"content\":{\"decision\":\"once\"}}", "reject" },
        { "\"result\":{\"content\":{\"decision\":\"once\"}}", "reject" },
        { "\"result\":\"once\"", "reject" },
        { "\"result\":null", "reject" },
        { "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}", "none" },
        { "\"error\":null,\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}",
          "none" },
    };
    struct client *client = *state;

    client_initialize(client, "2025-11-25", "{\"elicitation\":{}}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        client_send(client, ASK, 1);
        al_auto(al_freep) char *id = read_question(client);
        client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, rows[i].response);
        print_message("# %s\n", rows[i].response);
        client_expect_text(client, "1", rows[i].answer);
    }
}

/* A gateway may have shown the user the other of the two. */
static void an_answer_that_is_said_twice_is_a_no(void **state)
{
    static const char *const responses[] = {
        "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\","
        "\"decision\":\"once\"}}",
        "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\","
        "\"decision\":\"once\"}}",
        "\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\"},"
        "\"content\":{\"decision\":\"once\"}}",
        "\"result\":{\"action\":\"decline\",\"action\":\"accept\",\"content\":{\"decision\":"
        "\"once\"}}",
        "\"result\":{},\"result\":{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}",
    };
    struct client *client = *state;

    client_initialize(client, "2025-11-25", "{\"elicitation\":{}}");
    for (size_t i = 0; i < COUNT(responses); i++) {
        client_send(client, ASK, 1);
        al_auto(al_freep) char *id = read_question(client);
        client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, responses[i]);
        print_message("# %s\n", responses[i]);
        client_expect_text(client, "1", "reject");
    }
}

static void asks_as_each_revision_wants_it(void **state)
{
    static const struct {
        const char *revision;
        bool has_mode, has_labels;
    } rows[] = {
        { "2025-06-18", false, true },
        { "2025-11-25", true, false },
    };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        client_initialize(client, rows[i].revision, "{\"elicitation\":{}}");
        client_send(client, ASK, 1);
        al_auto(al_json_decrefp) json_t *message = client_read(client);
        json_t *params = json_object_get(message, "params");
        json_t *schema = json_object_get(params, "requestedSchema");
        json_t *fields = json_object_get(schema, "properties");
        json_t *field = json_object_get(fields, "decision");
        json_t *reason = json_object_get(fields, "reason");
        json_t *values = json_object_get(field, "enum");

        assert_string_equal(al_json_get_string(params, "message"),
                            "Do it?\nIn /r, by ask (run)\n\"always\" covers every ask\n\n"
                            "+ one line\n");
        assert_true((al_json_get_string(params, "mode") != NULL) == rows[i].has_mode);
        assert_string_equal(al_json_get_string(schema, "type"), "object");
        assert_string_equal(
            json_string_value(json_array_get(json_object_get(schema, "required"), 0)), "decision");
        assert_int_equal(json_array_size(json_object_get(schema, "required")), 1);
        assert_int_equal(json_object_size(fields), 2);
        assert_string_equal(al_json_get_string(reason, "type"), "string");
        assert_string_equal(al_json_get_string(field, "type"), "string");
        assert_int_equal(json_array_size(values), 3);
        assert_string_equal(json_string_value(json_array_get(values, 0)), "once");
        assert_string_equal(json_string_value(json_array_get(values, 1)), "always");
        assert_string_equal(json_string_value(json_array_get(values, 2)), "reject");
        assert_true((json_object_get(field, "enumNames") != NULL) == rows[i].has_labels);
        assert_null(json_object_get(field, "default"));
        client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":\"airlock-%zu\",\"result\":{}}", i + 1);
        client_expect_text(client, "1", "reject");
    }
}

static void asks_only_clients_that_show_forms(void **state)
{
    static const struct {
        const char *capabilities;
        bool usable;
    } rows[] = {
        { "{\"elicitation\":{}}", true },
        { "{\"elicitation\":{\"form\":{}}}", true },
        { "{\"elicitation\":{\"form\":{},\"url\":{}}}", true },
        { "{\"elicitation\":{\"other\":{}}}", true },
        { "{\"elicitation\":{\"url\":{}}}", false },
        { "{\"elicitation\":true}", false },
        { "{\"elicitation\":null}", false },
        { "{\"elicitation\":[]}", false },
        { "{}", false },
        { "[]", false },
    };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("# %s\n", rows[i].capabilities);
        client_initialize(client, "2025-06-18", rows[i].capabilities);
        client_send(client, ASK, 1);
        if (rows[i].usable) {
            al_auto(al_freep) char *id = read_question(client);

            client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", id);
        }
        client_expect_text(client, "1", rows[i].usable ? "reject" : "nobody to ask");
    }
}

static void answers_find_their_questions(void **state)
{
    static const char yes[] = "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":"
                              "{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}}";
    struct client *client = *state;

    client_initialize(client, "2025-06-18", "{\"elicitation\":{}}");
    client_send(client, ASK, 1);
    al_auto(al_freep) char *first = read_question(client);
    client_send(client, ASK, 2);
    al_auto(al_freep) char *second = read_question(client);

    assert_string_not_equal(first, second);
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":\"airlock-99\",\"result\":{}}");
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    client_expect_alive(client);
    client_send(client, yes, second);
    client_expect_text(client, "2", "once");
    client_send(client, yes, second); /* the request is no longer pending */
    client_expect_alive(client);
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{}}", first);
    client_expect_text(client, "1", "none");
}

/* A client that answers nothing is still served, and is told of the question that is too many. */
static void open_questions_leave_room_for_calls(void **state)
{
    static const char yes[] = "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":"
                              "{\"action\":\"accept\",\"content\":{\"decision\":\"once\"}}}";
    struct client *client = *state;
    char *ids[AL_CLIENT_QUESTIONS_MAX];

    client_initialize(client, "2025-06-18", "{\"elicitation\":{}}");
    for (size_t i = 0; i < COUNT(ids); i++) {
        client_send(client, ASK, (int)i);
        ids[i] = read_question(client);
    }
    for (int i = 0; i < 300; i++) { /* more than there are places of calls */
        client_send(client, ASK, 1000);
        client_expect_text(client, "1000", "too many");
    }
    client_expect_alive(client);
    client_send(client, yes, ids[0]);
    client_expect_text(client, "0", "once");
    client_send(client, ASK, 1001); /* its place is free */
    free(ids[0]);
    ids[0] = read_question(client);
    client_send(client, ASK, 1002);
    client_expect_text(client, "1002", "too many");
    client_send(client, CANCEL_FIRST); /* one that is withdrawn leaves its place too */
    al_auto(al_json_decrefp) json_t *withdrawn = client_read(client);
    assert_string_equal(al_json_get_string(withdrawn, "method"), "notifications/cancelled");
    fake_wait_cancelled(1);
    client_send(client, ASK, 1003);
    free(read_question(client));
    for (size_t i = 0; i < COUNT(ids); i++)
        free(ids[i]);
    client_abandon(client);
}

static void a_cancelled_call_withdraws_its_question(void **state)
{
    struct client *client = *state;

    client_initialize(client, "2025-06-18", "{\"elicitation\":{}}");
    client_send(client, ASK, 1);
    al_auto(al_freep) char *id = read_question(client);
    client_send(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                        "\"params\":{\"requestId\":1}}");
    al_auto(al_json_decrefp) json_t *message = client_read(client);
    assert_string_equal(al_json_get_string(message, "method"), "notifications/cancelled");
    assert_string_equal(al_json_get_string(json_object_get(message, "params"), "requestId"),
                        "airlock-1");
    fake_wait_cancelled(1);
    client_send(client,
                "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"action\":\"accept\","
                "\"content\":{\"decision\":\"once\"}}}",
                id); /* too late */
    client_expect_alive(client);
}

static void the_end_of_input_ends_the_waiting(void **state)
{
    struct client *client = *state;

    client_initialize(client, "2025-06-18", "{\"elicitation\":{}}");
    client_send(client, ASK, 1);
    free(read_question(client));
    client_abandon(client);
    fake_wait_cancelled(1);
}

static void waiting_for_a_person_is_reported_as_progress(void **state)
{
    static const char *const tokens[] = { "\"t\\u0000\"", "5" };
    struct client *client = *state;

    client_initialize(client, "2025-11-25", "{\"elicitation\":{}}");
    for (size_t i = 0; i < COUNT(tokens); i++) {
        al_auto(al_freep) char *id = NULL;
        bool progress = false;

        client_send(client,
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                    "{\"name\":\"ask\",\"_meta\":{\"progressToken\":%s}}}",
                    tokens[i]);
        for (int n = 0; n < 2; n++) { /* the question and the progress, in either order */
            al_auto(al_json_decrefp) json_t *message = client_read(client);
            const json_t *params = json_object_get(message, "params");

            if (!strcmp(al_json_get_string(message, "method"), "elicitation/create")) {
                id = al_asprintf("\"%s\"", al_json_get_string(message, "id"));
                continue;
            }
            progress = true;
            assert_string_equal(al_json_get_string(message, "method"), "notifications/progress");
            assert_int_equal(json_integer_value(json_object_get(params, "progress")), 1);
            assert_non_null(json_object_get(params, "progressToken"));
        }
        assert_true(progress);
        client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", id);
        client_expect_text(client, "1", "reject");
        client_expect_alive(client);
    }
}

#define SERVER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SERVER_TEST(only_a_plain_yes_approves),
        SERVER_TEST(an_answer_that_is_said_twice_is_a_no),
        SERVER_TEST(asks_as_each_revision_wants_it),
        SERVER_TEST(asks_only_clients_that_show_forms),
        SERVER_TEST(answers_find_their_questions),
        cmocka_unit_test_setup_teardown(open_questions_leave_room_for_calls, setup, no_teardown),
        SERVER_TEST(a_cancelled_call_withdraws_its_question),
        cmocka_unit_test_setup_teardown(the_end_of_input_ends_the_waiting, setup, no_teardown),
        SERVER_TEST(waiting_for_a_person_is_reported_as_progress),
    };

    return cmocka_run_group_tests_name("mcp/elicitation", tests, NULL, NULL);
}
