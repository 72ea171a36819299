// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/server.h: the reader never blocks, every request is answered once, and the end is
 * clean. */
#include "serve/mcp/server.h"

#include <unistd.h>

#include "base/fs.h"
#include "base/writer.h"
#include "serve/mcp/calls.h"
#include "tests/unit/serve/mcp/server_lib.h"

static void agrees_on_each_revision(void **state)
{
    static const struct {
        const char *wanted, *given;
    } rows[] = {
        { "2024-11-05", "2024-11-05" }, { "2025-03-26", "2025-03-26" },
        { "2025-06-18", "2025-06-18" }, { "2025-11-25", "2025-11-25" },
        { "1999-01-01", "2025-11-25" }, { "2026-07-28", "2025-11-25" },
        { "", "2025-11-25" },
    };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        client_send(client,
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
                    "\"params\":{\"protocolVersion\":\"%s\",\"capabilities\":{}}}",
                    rows[i].wanted);
        al_auto(al_json_decrefp) json_t *message = client_read(client);
        const json_t *result = json_object_get(message, "result");
        const json_t *info = json_object_get(result, "serverInfo");

        assert_string_equal(al_json_get_string(result, "protocolVersion"), rows[i].given);
        assert_string_equal(al_json_get_string(info, "name"), "airlock");
        assert_string_equal(al_json_get_string(info, "version"), "1.2.3");
        assert_true(
            json_is_object(json_object_get(json_object_get(result, "capabilities"), "tools")));
        assert_in_range(strlen(al_json_get_string(result, "instructions")), 1, 800);
        client_expect_alive(client);
    }
}

static void answers_what_it_cannot_do_with_the_right_code(void **state)
{
    static const struct {
        const char *rest; /* of a request with id 1 */
        int code;
    } rows[] = {
        { "\"method\":\"initialize\"", -32602 },
        { "\"method\":\"initialize\",\"params\":{\"protocolVersion\":7}", -32602 },
        { "\"method\":\"server/discover\"", -32602 },
        { "\"method\":\"resources/list\"", -32601 },
        { "\"method\":\"prompts/list\",\"params\":{}", -32601 },
        { "\"method\":\"notifications/cancelled\"", -32601 },
        { "\"method\":\"\"", -32601 },
        { "\"method\":\"ping\",\"params\":[]", -32602 },
        { "\"method\":\"tools/list\",\"params\":{\"cursor\":\"\"}", -32602 },
        { "\"method\":\"tools/call\"", -32602 },
        { "\"method\":\"tools/call\",\"params\":[]", -32602 },
        { "\"method\":\"tools/call\",\"params\":\"x\"", -32602 },
        { "\"method\":\"tools/call\",\"params\":{}", -32602 },
        { "\"method\":\"tools/call\",\"params\":{\"name\":7}", -32602 },
        { "\"method\":\"tools/call\",\"params\":{\"name\":\"nope\"}", -32602 },
        { "\"method\":\"tools/call\",\"params\":{\"name\":\"echo\\u0000\"}", -32602 },
        { "\"method\":7", -32600 },
        { "\"params\":{}", -32600 },
    };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("# %s\n", rows[i].rest);
        client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,%s}", rows[i].rest);
        client_expect_error(client, "1", rows[i].code);
        client_expect_alive(client);
    }
    assert_int_equal(fake_calls(), 0);
}

static void a_foreign_name_is_repeated_safely(void **state)
{
    struct client *client = *state;
    al_auto(al_freep) char *name = al_malloc(100001);

    client_send(client, CALL, 1, "no\\u001b[31mpe\\n");
    client_expect(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
                          "\"message\":\"Unknown tool: nope<U+000A>\"}}");
    memset(name, 'n', 100000);
    name[100000] = '\0';
    client_send(client, CALL, 2, name);
    al_auto(al_json_decrefp) json_t *message = client_read(client);
    assert_true(strlen(al_json_get_string(json_object_get(message, "error"), "message")) < 200);
}

static void lists_the_tools_with_the_same_bytes(void **state)
{
    struct client *client = *state;
    al_auto(al_str_clear) struct al_str first = AL_STR_INIT, second = AL_STR_INIT;
    const char *const request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

    client_send(client, "%s", request);
    al_auto(al_json_decrefp) json_t *one = client_read(client);
    client_send(client, "%s", request);
    al_auto(al_json_decrefp) json_t *two = client_read(client);
    const json_t *tools = json_object_get(json_object_get(one, "result"), "tools");
    const json_t *gate = json_array_get(tools, 1);

    al_json_dump(one, false, &first);
    al_json_dump(two, false, &second);
    assert_string_equal(first.buf, second.buf);
    assert_int_equal(json_array_size(tools), 7);
    assert_string_equal(al_json_get_string(gate, "name"), "gate");
    assert_string_equal(al_json_get_string(gate, "title"), "Gate");
    assert_string_equal(al_json_get_string(gate, "description"), "Wait.");
    assert_int_equal(json_object_size(json_object_get(gate, "annotations")), 4);
    assert_string_equal(al_json_get_string(json_object_get(gate, "inputSchema"), "type"), "object");
    assert_string_equal(al_json_get_string(json_object_get(gate, "outputSchema"), "type"),
                        "object");
    assert_null(json_object_get(json_array_get(tools, 0), "outputSchema"));
}

static void arguments_that_cannot_be_taken_are_a_result(void **state)
{
    static const struct {
        const char *arguments, *text;
        bool failed;
    } rows[] = {
        { "{\"a\":[1,{}]}", "{\"a\":[1,{}]}", false },
        { "{\"a\":1,\"a\":2}", "arguments contain the same name twice", true },
        { "{\"a\":\"\\u0000\"}", "arguments contain a NUL character", true },
        { "[]", "arguments must be an object", true },
        { "null", "arguments must be an object", true },
        { "\"x\"", "arguments must be an object", true },
    };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        client_send(client,
                    "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0000%zu\",\"method\":\"tools/call\","
                    "\"params\":{\"name\":\"echo\",\"arguments\":%s}}",
                    i, rows[i].arguments);
        al_auto(al_json_decrefp) json_t *message = client_read(client);
        const json_t *result = json_object_get(message, "result");
        const json_t *item = json_array_get(json_object_get(result, "content"), 0);

        assert_int_equal(json_string_length(json_object_get(message, "id")), 2);
        assert_string_equal(al_json_get_string(item, "text"), rows[i].text);
        assert_true(json_is_true(json_object_get(result, "isError")) == rows[i].failed);
    }
}

static void what_cannot_be_read_is_an_error_with_the_id_that_can(void **state)
{
    struct client *client = *state;

    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\"");
    client_expect_error(client, NULL, -32700);
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    client_expect_error(client, "1", -32700);
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}");
    client_expect_error(client, "1", -32700);
    client_send(client, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]");
    client_expect_error(client, NULL, -32600);
    client_send(client, "\r\n\n   ");
    client_send(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\"}");
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":\"airlock-1\",\"result\":{}}");
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}");
    client_expect_alive(client);
}

static void calls_run_side_by_side_and_the_reader_goes_on(void **state)
{
    struct client *client = *state;
    bool answered[65] = { false };

    for (int id = 1; id <= 64; id++)
        client_send(client, CALL, id, "gate");
    fake_wait_at_gate(64);
    client_expect_alive(client);
    fake_open_gate(64);
    for (int i = 0; i < 64; i++) {
        al_auto(al_json_decrefp) json_t *message = client_read(client);
        json_int_t id = json_integer_value(json_object_get(message, "id"));

        assert_in_range(id, 1, 64);
        assert_false(answered[id]);
        answered[id] = true;
    }
    client_expect_alive(client);
}

static void a_cancelled_call_is_stopped_and_not_answered(void **state)
{
    static const struct {
        const char *id, *cancelled_as;
    } rows[] = {
        { "7", "7" },
        { "\"ab\"", "\"a\\u0062\"" },
        { "99999999999999999999", "99999999999999999999" },
    };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        client_send(client,
                    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\","
                    "\"params\":{\"name\":\"gate\"}}",
                    rows[i].id);
        fake_wait_at_gate((unsigned)i + 1);
        client_send(client,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                    "\"params\":{\"requestId\":%s,\"reason\":\"changed my mind\"}}",
                    rows[i].cancelled_as);
        fake_wait_cancelled((unsigned)i + 1);
        client_expect_alive(client);
    }
}

static void cancelling_what_is_not_there_is_ignored(void **state)
{
    static const char *const params[] = {
        "{\"requestId\":8}",  "{\"requestId\":\"7\"}", "{\"requestId\":null}", "{}", "[]",
        "{\"requestId\":{}}",
    };
    struct client *client = *state;

    client_send(client, CALL, 7, "gate");
    fake_wait_at_gate(1);
    for (size_t i = 0; i < COUNT(params); i++)
        client_send(client,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":%s}",
                    params[i]);
    client_expect_alive(client);
    fake_open_gate(1);
    client_expect_text(client, "7", "through");
}

static void a_long_call_reports_progress_until_it_is_answered(void **state)
{
    struct client *client = *state;

    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                        "{\"name\":\"gate\",\"_meta\":{\"progressToken\":\"long\"}}}");
    client_expect(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                          "{\"progressToken\":\"long\",\"progress\":1,\"message\":\"running\"}}");
    client_expect(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                          "{\"progressToken\":\"long\",\"progress\":2,\"message\":\"running\"}}");
    fake_open_gate(1);
    client_expect_text(client, "1", "through");
    client_expect_alive(client);
}

static void a_short_call_reports_none(void **state)
{
    struct client *client = *state;

    for (int i = 0; i < 100; i++) {
        client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                            "{\"name\":\"echo\",\"_meta\":{\"progressToken\":1}}}");
        client_expect_text(client, "1", "");
    }
}

static void an_id_in_flight_is_refused_and_free_afterwards(void **state)
{
    struct client *client = *state;

    client_send(client, CALL, 1, "gate");
    client_send(client, CALL, 1, "echo");
    client_expect_error(client, "1", -32600);
    fake_open_gate(1);
    client_expect_text(client, "1", "through");
    client_send(client, CALL, 1, "echo");
    client_expect_text(client, "1", "");
}

static void calls_in_flight_are_limited(void **state)
{
    struct client *client = *state;

    for (int id = 1; id <= AL_CALLS_MAX; id++)
        client_send(client, CALL, id, "gate");
    client_send(client, CALL, AL_CALLS_MAX + 1, "gate");
    al_auto(al_freep) char *id = al_asprintf("%d", AL_CALLS_MAX + 1);
    client_expect_error(client, id, -32603);
    client_expect_alive(client);
    fake_wait_at_gate(AL_CALLS_MAX);
    fake_open_gate(AL_CALLS_MAX);
    for (int i = 0; i < AL_CALLS_MAX; i++)
        json_decref(client_read(client));
    client_send(client, CALL, 1, "echo");
    client_expect_text(client, "1", "");
}

/* One, or a few if an answer is read before its thread waits again. */
static void calls_after_each_other_share_threads(void **state)
{
    struct client *client = *state;

    for (int i = 0; i < 200; i++) {
        client_send(client, CALL, 1, "echo");
        client_expect_text(client, "1", "");
    }
    assert_in_range(fake_threads(), 1, 20);
}

/* Threads that wait and threads that are made later both take calls, and both end. */
static void threads_of_a_burst_take_the_next(void **state)
{
    struct client *client = *state;

    /* On a busy machine an answer is often read before its thread waits again, but not each time.
     */
    for (int round = 1; round <= 16; round++) {
        for (int id = 1; id <= 20; id++)
            client_send(client, CALL, id, "gate");
        fake_wait_at_gate(20 * (unsigned)round);
        fake_open_gate(20);
        for (int i = 0; i < 20; i++)
            json_decref(client_read(client));
    }
    assert_in_range(fake_threads(), 20, 16 * 20 - 1);
    client_expect_alive(client);
}

static void batches_belong_to_one_revision(void **state)
{
    static const char *const revisions[] = { "2024-11-05", "2025-06-18", "2025-11-25" };
    struct client *client = *state;
    static const char batch[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
                                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},7,"
                                "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"nope\"}]";

    for (size_t i = 0; i < COUNT(revisions); i++) {
        client_initialize(client, revisions[i], "{}");
        client_send(client, "%s", batch);
        client_expect_error(client, NULL, -32600);
    }
    client_initialize(client, "2025-03-26", "{}");
    client_send(client, "%s", batch);
    client_expect(client, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},"
                          "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
                          "\"message\":\"a message is a JSON object\"}},"
                          "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,"
                          "\"message\":\"Method not found: nope\"}}]");
    client_send(client, "[]");
    client_expect_error(client, NULL, -32600);
    client_send(client, "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]");
    client_expect_alive(client);
}

static void a_batch_waits_for_its_calls_only(void **state)
{
    struct client *client = *state;

    client_initialize(client, "2025-03-26", "{}");
    client_send(client, "[" CALL "," CALL "," CALL "]", 1, "gate", 2, "echo", 3, "gate");
    fake_wait_at_gate(2);
    client_expect_alive(client);
    client_send(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                        "\"params\":{\"requestId\":1}}");
    fake_wait_cancelled(1);
    fake_open_gate(1);
    al_auto(al_json_decrefp) json_t *answers = client_read(client);
    assert_int_equal(json_array_size(answers), 2); /* the cancelled one is left out */
    client_expect_alive(client);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SERVER_TEST(agrees_on_each_revision),
        SERVER_TEST(answers_what_it_cannot_do_with_the_right_code),
        SERVER_TEST(a_foreign_name_is_repeated_safely),
        SERVER_TEST(lists_the_tools_with_the_same_bytes),
        SERVER_TEST(arguments_that_cannot_be_taken_are_a_result),
        SERVER_TEST(what_cannot_be_read_is_an_error_with_the_id_that_can),
        SERVER_TEST(calls_run_side_by_side_and_the_reader_goes_on),
        SERVER_TEST(a_cancelled_call_is_stopped_and_not_answered),
        SERVER_TEST(cancelling_what_is_not_there_is_ignored),
        SERVER_TEST(a_long_call_reports_progress_until_it_is_answered),
        SERVER_TEST(a_short_call_reports_none),
        SERVER_TEST(an_id_in_flight_is_refused_and_free_afterwards),
        SERVER_TEST(calls_in_flight_are_limited),
        SERVER_TEST(calls_after_each_other_share_threads),
        SERVER_TEST(threads_of_a_burst_take_the_next),
        SERVER_TEST(batches_belong_to_one_revision),
        SERVER_TEST(a_batch_waits_for_its_calls_only),
    };

    return cmocka_run_group_tests_name("mcp/server", tests, NULL, NULL);
}
