// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/dispatch.h and serve/mcp/reply.h: each message is served by the rules of its own era.
 */
#include "serve/mcp/dispatch.h"

#include "serve/mcp/server.h"
#include "tests/lib/assert.h"
#include "tests/mcp/client.h"
#include "tests/mcp/fake_pipeline.h"

#define P             "\"io.modelcontextprotocol/"
#define VERSION       P "protocolVersion\":\"2026-07-28\""
#define META(members) "\"_meta\":{" VERSION "," P "clientCapabilities\":" members "}"
#define PLAIN         META("{}")
#define FORMS         META("{\"elicitation\":{}}")
#define SERVER_INFO                                                                                \
    P "serverInfo\":{\"name\":\"airlock\",\"title\":\"airlock\",\"version\":\"1.2.3\"}"

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

static void request(struct client *client, const char *method, const char *params)
{
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}", method,
                params);
}

static void wants_an_envelope(void **state)
{
    static const struct {
        const char *params;
        int code; /* 0: fine */
    } rows[] = {
        { PLAIN, 0 },
        { META("{\"elicitation\":{\"form\":{}},\"x\":1}"), 0 },
        { "\"_meta\":{" VERSION "," P "clientCapabilities\":{}," P
          "clientInfo\":{\"name\":\"c\",\"version\":\"1\"},\"progressToken\":1,\"x/y\":null}",
          0 },
        { "", -32602 },
        { "\"_meta\":null", -32602 },
        { "\"_meta\":[]", -32602 },
        { "\"_meta\":{}", -32602 },
        { "\"_meta\":{" VERSION "}", -32602 },
        { "\"_meta\":{" P "clientCapabilities\":{}}", -32602 },
        { "\"_meta\":{" P "clientInfo\":{}}", -32602 },
        { "\"_meta\":{" P "protocolVersion\":20260728," P "clientCapabilities\":{}}", -32602 },
        { "\"_meta\":{" P "protocolVersion\":null," P "clientCapabilities\":{}}", -32602 },
        { META("null"), -32602 },
        { META("[]"), -32602 },
        { META("true"), -32602 },
        { "\"_meta\":{" VERSION "," P "clientCapabilities\":{}," P "clientInfo\":\"c\"}", -32602 },
        { "\"_meta\":{" P "protocolVersion\":\"2026-07-29\"," P "clientCapabilities\":{}}",
          -32022 },
        { "\"_meta\":{" P "protocolVersion\":\"2025-11-25\"," P "clientCapabilities\":{}}",
          -32022 },
        { "\"_meta\":{" P "protocolVersion\":\"\"," P "clientCapabilities\":{}}", -32022 },
        { "\"_meta\":{" P "protocolVersion\":\"2026-07-28\\u0000\"," P "clientCapabilities\":{}}",
          -32022 },
    };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("# %s\n", rows[i].params);
        request(client, "server/discover", rows[i].params);
        if (rows[i].code)
            client_expect_error(client, "1", rows[i].code);
        else
            json_decref(client_read(client));
        client_expect_alive(client);
    }
}

static void a_foreign_version_is_told_what_there_is(void **state)
{
    struct client *client = *state;

    request(client, "tools/list",
            "\"_meta\":{" P "protocolVersion\":\"1999-01-01\"," P "clientCapabilities\":{}}");
    client_expect(client,
                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32022,"
                  "\"message\":\"unsupported revision\",\"data\":{\"supported\":[\"2026-07-28\","
                  "\"2025-11-25\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"],"
                  "\"requested\":\"1999-01-01\"}}}");
}

static void a_long_version_is_repeated_in_part(void **state)
{
    struct client *client = *state;
    al_auto(al_freep) char *version = al_malloc(100001);
    al_auto(al_freep) char *params = NULL;

    memset(version, '9', 100000);
    version[100000] = '\0';
    params = al_asprintf("\"_meta\":{" P "protocolVersion\":\"%s\"," P "clientCapabilities\":{}}",
                         version);
    request(client, "ping", params);
    al_auto(al_json_decrefp) json_t *message = client_read(client);
    const json_t *data = json_object_get(json_object_get(message, "error"), "data");
    assert_int_equal(strlen(al_json_get_string(data, "requested")), 128);
}

static void results_say_what_the_era_wants(void **state)
{
    struct client *client = *state;

    request(client, "server/discover", PLAIN);
    al_auto(al_json_decrefp) json_t *hello = client_read(client);
    const json_t *result = json_object_get(hello, "result");
    assert_int_equal(json_object_size(result), 7);
    assert_string_equal(al_json_get_string(result, "resultType"), "complete");
    assert_string_equal(al_json_get_string(result, "cacheScope"), "public");
    assert_int_equal(json_integer_value(json_object_get(result, "ttlMs")), AL_DISPATCH_TTL_MS);
    assert_int_equal(json_array_size(json_object_get(result, "supportedVersions")), 5);
    assert_int_equal(json_object_size(json_object_get(result, "capabilities")), 1);
    assert_in_range(strlen(al_json_get_string(result, "instructions")), 1, 800);

    request(client, "tools/list", PLAIN);
    al_auto(al_json_decrefp) json_t *list = client_read(client);
    result = json_object_get(list, "result");
    assert_int_equal(json_object_size(result), 5);
    assert_string_equal(al_json_get_string(result, "resultType"), "complete");
    assert_string_equal(al_json_get_string(result, "cacheScope"), "public");
    assert_int_equal(json_array_size(json_object_get(result, "tools")), 7);

    request(client, "tools/call", "\"name\":\"echo\",\"arguments\":{\"a\":1}," PLAIN);
    client_expect(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":"
                          "\"text\",\"text\":\"{\\\"a\\\":1}\"}],\"resultType\":\"complete\","
                          "\"_meta\":{\"airlock/result\":{\"truncated\":false,\"exit_code\":-1,"
                          "\"duration_ms\":0}," SERVER_INFO "}}}");
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                        "{\"name\":\"echo\",\"arguments\":{\"a\":1}}}");
    client_expect(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":"
                          "\"text\",\"text\":\"{\\\"a\\\":1}\"}],\"_meta\":{\"airlock/result\":"
                          "{\"truncated\":false,\"exit_code\":-1,\"duration_ms\":0}}}}");
}

static void what_the_era_does_not_have_is_not_found(void **state)
{
    static const char *const methods[] = {
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/list",
        "resources/subscribe",
        "prompts/list",
        "subscriptions/listen",
        "tasks/list",
        "no/such",
        "roots/list",
        "notifications/cancelled",
        "tools/Call",
        "server/discove",
    };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(methods); i++) {
        print_message("# %s\n", methods[i]);
        request(client, methods[i], PLAIN);
        client_expect_error(client, "1", -32601);
        client_expect_alive(client);
    }
}

static void nothing_is_remembered_between_eras(void **state)
{
    struct client *client = *state;

    request(client, "server/discover", PLAIN);
    json_decref(client_read(client));
    client_initialize(client, "2025-11-25", "{\"elicitation\":{}}");
    request(client, "tools/call", "\"name\":\"ask\"," PLAIN); /* this client shows no forms */
    client_expect_text(client, "1", "nobody to ask");
    request(client, "tools/call", "\"name\":\"ask\""); /* that one does */
    al_auto(al_json_decrefp) json_t *question = client_read(client);
    assert_string_equal(al_json_get_string(question, "method"), "elicitation/create");
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":\"airlock-1\",\"result\":{}}");
    client_expect_text(client, "1", "reject");
    client_initialize(client, "2025-11-25", "{}");
    request(client, "tools/call", "\"name\":\"ask\"," FORMS);
    al_auto(al_json_decrefp) json_t *modern = client_read(client);
    assert_string_equal(al_json_get_string(json_object_get(modern, "result"), "resultType"),
                        "input_required");
    request(client, "tools/call", "\"name\":\"ask\"");
    client_expect_text(client, "1", "nobody to ask");
}

/* Make a call that asks.  The caller frees its requestState. */
static char *ask(struct client *client)
{
    request(client, "tools/call", "\"name\":\"ask\"," FORMS);
    al_auto(al_json_decrefp) json_t *message = client_read(client);
    const json_t *result = json_object_get(message, "result");

    assert_int_equal(json_object_size(result), 4);
    assert_string_equal(al_json_get_string(result, "resultType"), "input_required");
    assert_non_null(json_object_get(json_object_get(result, "inputRequests"), "approve"));
    assert_int_equal(json_object_size(json_object_get(result, "_meta")), 1);
    return al_strdup(al_json_get_string(result, "requestState"));
}

static void bring(struct client *client, const char *state, const char *decision)
{
    al_auto(al_freep) char *params =
        al_asprintf("\"name\":\"ask\"," FORMS ",\"requestState\":\"%s\",\"inputResponses\":"
                    "{\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"%s\"}}}",
                    state, decision);

    request(client, "tools/call", params);
}

static void a_question_ends_the_call_and_the_next_brings_the_answer(void **state)
{
    static const char *const decisions[] = { "once", "always", "reject" };
    struct client *client = *state;

    for (size_t i = 0; i < COUNT(decisions); i++) {
        al_auto(al_freep) char *request_state = ask(client);

        client_expect_alive(client);
        bring(client, request_state, decisions[i]);
        client_expect_text(client, "1", decisions[i]);
    }
}

static void an_answer_is_not_taken_twice_or_changed(void **state)
{
    struct client *client = *state;
    al_auto(al_freep) char *request_state = ask(client);
    unsigned calls;

    bring(client, request_state, "once");
    client_expect_text(client, "1", "once");
    bring(client, request_state, "once");
    al_auto(al_json_decrefp) json_t *again = client_read(client);
    assert_non_null(json_object_get(json_object_get(again, "result"), "requestState"));
    calls = fake_calls();
    request_state[7] = request_state[7] == 'A' ? 'B' : 'A';
    bring(client, request_state, "once");
    client_expect_error(client, "1", -32602);
    bring(client, "", "once");
    client_expect_error(client, "1", -32602);
    assert_int_equal(fake_calls(), calls); /* no tool was run for these */
}

static void an_answer_that_is_said_twice_uses_nothing_up(void **state)
{
    static const char *const answers[] = {
        "{\"approve\":{\"action\":\"accept\",\"content\":{\"decision\":\"reject\","
        "\"decision\":\"once\"}}}",
        "{\"approve\":{\"action\":\"decline\"},\"approve\":{\"action\":\"accept\",\"content\":"
        "{\"decision\":\"once\"}}}",
    };
    struct client *client = *state;
    al_auto(al_freep) char *request_state = ask(client);
    const unsigned calls = fake_calls();

    for (size_t i = 0; i < COUNT(answers); i++) {
        al_auto(al_freep) char *params =
            al_asprintf("\"name\":\"ask\",\"requestState\":\"%s\",\"inputResponses\":%s," FORMS,
                        request_state, answers[i]);

        request(client, "tools/call", params);
        client_expect_error(client, "1", -32600);
    }
    assert_int_equal(fake_calls(), calls);
    bring(client, request_state, "once");
    client_expect_text(client, "1", "once");
}

static void a_call_that_asks_nobody_takes_no_foreign_state_either(void **state)
{
    struct client *client = *state;

    request(client, "tools/call", "\"name\":\"echo\",\"requestState\":\"x\"," PLAIN);
    client_expect_error(client, "1", -32602);
    request(client, "tools/call", "\"name\":\"echo\",\"inputResponses\":{\"x\":{}}," PLAIN);
    client_expect_text(client, "1", "");
    /* In the legacy era these members are unknown. */
    request(client, "tools/call", "\"name\":\"echo\",\"requestState\":\"x\"");
    client_expect_text(client, "1", "");
}

static void a_cancelled_call_is_silent(void **state)
{
    struct client *client = *state;
    bool in_flight;

    request(client, "tools/call",
            "\"name\":\"gate\",\"_meta\":{" VERSION "," P
            "clientCapabilities\":{},\"progressToken\":\"t\"}");
    fake_wait_at_gate(1);
    client_send(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                        "{\"requestId\":1," PLAIN "}}");
    fake_wait_cancelled(1);
    client_expect_alive(client);
    do { /* the id is free again once the call has gone */
        request(client, "tools/call", "\"name\":\"echo\"," PLAIN);
        al_auto(al_json_decrefp) json_t *message = client_read(client);

        assert_int_equal(json_integer_value(json_object_get(message, "id")), 1);
        in_flight = json_object_get(message, "error");
    } while (in_flight);
}

#define MODERN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        MODERN_TEST(wants_an_envelope),
        MODERN_TEST(a_foreign_version_is_told_what_there_is),
        MODERN_TEST(a_long_version_is_repeated_in_part),
        MODERN_TEST(results_say_what_the_era_wants),
        MODERN_TEST(what_the_era_does_not_have_is_not_found),
        MODERN_TEST(nothing_is_remembered_between_eras),
        MODERN_TEST(a_question_ends_the_call_and_the_next_brings_the_answer),
        MODERN_TEST(an_answer_is_not_taken_twice_or_changed),
        MODERN_TEST(an_answer_that_is_said_twice_uses_nothing_up),
        MODERN_TEST(a_call_that_asks_nobody_takes_no_foreign_state_either),
        MODERN_TEST(a_cancelled_call_is_silent),
    };

    return cmocka_run_group_tests_name("mcp/modern", tests, NULL, NULL);
}
