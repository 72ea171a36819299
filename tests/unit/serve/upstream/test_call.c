// SPDX-License-Identifier: Apache-2.0
/* serve/upstream/call.c: a call gets its result, its progress and its questions, and ends when it
 * has to.
 */
#include "tests/unit/serve/upstream/lib.h"

static const char *const eras[] = { "legacy", "modern" };

/* What a client does, and what it has seen. */
struct client {
    const char *answer;      /* JSON of the result; NULL: none */
    int fails;               /* the status of the failure, or 0 */
    struct al_cancel *fires; /* fired by the question */
    bool waits;              /* until the question is withdrawn */
    char *method, *message, *progress;
    int nasked, nprogress;
};

static int answer(void *payload, const char *method, const json_t *params, struct al_cancel *cancel,
                  json_t **ret_result, struct al_error *err)
{
    struct client *client = payload;
    struct pollfd withdrawn = { .fd = al_cancel_fd(cancel), .events = POLLIN };

    client->nasked++;
    free(client->method);
    free(client->message);
    client->method = al_strdup(method);
    client->message = al_strdup(al_json_get_string(params, "message"));
    if (client->fires)
        al_cancel_fire(client->fires);
    if (client->waits)
        assert_int_equal(poll(&withdrawn, 1, -1), 1);
    if (al_cancel_fired(cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "withdrawn");
    if (client->fails)
        return al_error_set(err, client->fails, "asked in vain");
    *ret_result = client->answer ? json_loads(client->answer, 0, NULL) : NULL;
    return 0;
}

static void see(void *payload, const struct al_upstream_progress *progress)
{
    struct client *client = payload;

    client->nprogress++;
    free(client->progress);
    client->progress = al_asprintf("%g of %g: %s", progress->progress, progress->total,
                                   progress->message ? progress->message : "");
}

static void client_clear(struct client *client)
{
    free(client->method);
    free(client->message);
    free(client->progress);
    *client = (struct client){ .answer = NULL };
}

static struct al_upstream_call call_of(struct client *client)
{
    return (struct al_upstream_call){
        .timeout_ms = LONG_MS, .ask = answer, .progress = see, .payload = client
    };
}

static void assert_asks(struct world *world, struct client *client, const char *tool,
                        const char *wanted)
{
    struct al_upstream_call call = call_of(client);
    struct al_error err = AL_ERROR_INIT;
    json_t *result = NULL;

    if (call_with(world, &call, tool, "{}", &result, &err) < 0)
        fail_msg("%s: %s", tool, err.message);
    assert_string_equal(text_of(result), wanted);
    json_decref(result);
}

static void results_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(eras); i++) {
        struct world world = world_new(eras[i], "");

        assert_int_equal(start_fake(&world, NULL), 0);
        assert_gives(&world, "echo", "{\"a\":[1,{\"b\":null}]}", "{\"a\": [1, {\"b\": null}]}");
        assert_gives(&world, "wrong_ids", "{}", "mine");
        assert_gives(&world, "echo", "{}", "{}");
        assert_gives(&world, "structured", "{\"structuredContent\":{\"n\":1}}", "s");
        assert_gives(&world, "structured", "{\"isError\":true}", "s");
        assert_fails(&world, "nothing", "{}", AL_ERR_EXECUTION,
                     "MCP server 'fake' has no tool 'nothing'");
        world_clear(&world);
    }
}

static void a_call_starts_the_server(void **state)
{
    struct world world = world_new("legacy", "");
    struct al_upstream_state seen;

    (void)state;
    world_make(&world);
    al_upstream_get_state(world.server, &seen);
    assert_int_equal(seen.phase, AL_UPSTREAM_IDLE);
    assert_int_equal(world.server->nstarts, 0);
    assert_gives(&world, "echo", "{}", "{}");
    world_clear(&world);
}

static void questions_go_to_the_client(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(eras); i++) {
        struct world world = world_new(eras[i], "");
        struct client client = { .answer = "{\"action\":\"accept\"}" };

        assert_int_equal(start_fake(&world, NULL), 0);
        assert_asks(&world, &client, "ask",
                    i ? "[{\"a\": {\"action\": \"accept\"}}, \"s1\"]" : "{\"action\": \"accept\"}");
        assert_int_equal(client.nasked, 1);
        assert_string_equal(client.method, "elicitation/create");
        assert_string_equal(client.message, "Sure?");
        client_clear(&client);
        world_clear(&world);
    }
}

static void legacy_servers_ask_for_more(void **state)
{
    struct world world = world_new("legacy", "");
    struct client client = { .answer = "{\"role\":\"assistant\"}" };

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_asks(&world, &client, "sample", "{\"role\": \"assistant\"}");
    assert_string_equal(client.method, "sampling/createMessage");
    assert_asks(&world, &client, "roots", "{\"error\": -32601}");
    assert_asks(&world, &client, "ping", "{}");
    assert_int_equal(client.nasked, 1);
    client_clear(&client);
    world_clear(&world);
}

static void a_question_without_an_answer_is_an_error_for_the_server(void **state)
{
    struct world world = world_new("legacy", "");
    struct client client = { .answer = NULL };

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_asks(&world, &client, "ask", "{\"error\": -32603}");
    assert_int_equal(client.nasked, 1);
    /* a call that takes no questions */
    assert_gives(&world, "ask", "{}", "{\"error\": -32600}");
    client_clear(&client);
    world_clear(&world);
}

static void what_the_client_lacks_is_not_offered(void **state)
{
    struct world world = world_new("legacy", "");
    struct client client = { .answer = "{}" };

    (void)state;
    world.settings.elicitation = world.settings.sampling = false;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_asks(&world, &client, "ask", "{\"error\": -32601}");
    assert_asks(&world, &client, "sample", "{\"error\": -32601}");
    assert_int_equal(client.nasked, 0);
    client_clear(&client);
    world_clear(&world);
}

static void a_failed_question_ends_the_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(eras); i++) {
        struct world world = world_new(eras[i], "");
        struct client client = { .fails = AL_ERR_APPROVAL_REQUIRED };
        struct al_upstream_call call = call_of(&client);

        assert_int_equal(start_fake(&world, NULL), 0);
        assert_fails_with(&world, &call, "ask", "{}", AL_ERR_APPROVAL_REQUIRED, "asked in vain");
        assert_gives(&world, "echo", "{}", "{}");
        client_clear(&client);
        world_clear(&world);
    }
}

static void modern_questions_are_bounded(void **state)
{
    struct world world = world_new("modern", "");
    struct client client = { .answer = "{\"action\":\"accept\"}" };
    struct al_upstream_call call = call_of(&client), silent = { .timeout_ms = LONG_MS };

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_fails_with(&world, &call, "ask_again", "{}", AL_ERR_EXECUTION,
                      "MCP server 'fake' asks again and again");
    assert_int_equal(client.nasked, 9);
    assert_fails_with(&world, &silent, "ask", "{}", AL_ERR_EXECUTION,
                      "MCP server 'fake' asks for something that the client cannot give");
    client.answer = NULL;
    assert_fails_with(&world, &call, "ask", "{}", AL_ERR_EXECUTION,
                      "MCP server 'fake' asked for something that the client did not give");
    client_clear(&client);
    world_clear(&world);
}

static void a_withdrawn_question_ends(void **state)
{
    struct world world = world_new("legacy", "");
    struct client client = { .waits = true };
    struct al_upstream_call call = call_of(&client);

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_asks(&world, &client, "withdraw", "withdrawn");
    assert_fails_with(&world, &call, "die_asking", "{}", AL_ERR_EXECUTION,
                      "the call was lost: MCP server 'fake' ended with exit code 3");
    assert_gives(&world, "echo", "{}", "{}");
    client_clear(&client);
    world_clear(&world);
}

static void progress_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(eras); i++) {
        struct world world = world_new(eras[i], "");
        struct client client = { .answer = NULL };
        struct al_upstream_call call = call_of(&client);
        json_t *result = NULL;

        assert_int_equal(start_fake(&world, NULL), 0);
        assert_int_equal(call_with(&world, &call, "progress", "{}", &result, NULL), 0);
        json_decref(result);
        if (i ==
            0) /* the question comes after the progress; an answer may come before it is seen */
            assert_int_equal(client.nprogress, 1);
        if (client.nprogress)
            assert_string_equal(client.progress, "1 of 2: a b");
        client_clear(&client);
        world_clear(&world);
    }
}

static void a_cancelled_call_is_cancelled_at_the_server(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(eras); i++) {
        struct world world = world_new(eras[i], "");
        al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
        struct al_upstream_call call = { .timeout_ms = LONG_MS, .cancel = cancel };

        assert_int_equal(start_fake(&world, NULL), 0);
        al_cancel_fire(cancel);
        assert_fails_with(&world, &call, "wait_for_cancel", "{}", AL_ERR_CANCELLED, "Cancelled");
        assert_gives(&world, "notes", "{}", i ? "listened cancelled" : "elicitation cancelled");
        assert_fails_with(&world, &call, "late", "{}", AL_ERR_CANCELLED, "Cancelled");
        assert_gives(&world, "echo", "{}", "{}"); /* and not the late answer */
        world_clear(&world);
    }
}

static void a_call_cancelled_while_it_asks_ends(void **state)
{
    struct world world = world_new("legacy", "");
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    struct client client = { .fires = cancel };
    struct al_upstream_call call = call_of(&client);

    (void)state;
    call.cancel = cancel;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_fails_with(&world, &call, "ask", "{}", AL_ERR_CANCELLED, "Cancelled");
    client_clear(&client);
    world_clear(&world);
}

static void a_late_call_is_given_up(void **state)
{
    struct world world = world_new("legacy", "");
    struct al_upstream_call call = { .timeout_ms = 30 };

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_fails_with(&world, &call, "wait_for_cancel", "{}", AL_ERR_TIMEOUT,
                      "MCP server 'fake' did not answer within 30 ms");
    assert_gives(&world, "notes", "{}", "elicitation cancelled");
    world_clear(&world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_back),
        cmocka_unit_test(a_call_starts_the_server),
        cmocka_unit_test(questions_go_to_the_client),
        cmocka_unit_test(legacy_servers_ask_for_more),
        cmocka_unit_test(a_question_without_an_answer_is_an_error_for_the_server),
        cmocka_unit_test(what_the_client_lacks_is_not_offered),
        cmocka_unit_test(a_failed_question_ends_the_call),
        cmocka_unit_test(modern_questions_are_bounded),
        cmocka_unit_test(a_withdrawn_question_ends),
        cmocka_unit_test(progress_is_reported),
        cmocka_unit_test(a_cancelled_call_is_cancelled_at_the_server),
        cmocka_unit_test(a_call_cancelled_while_it_asks_ends),
        cmocka_unit_test(a_late_call_is_given_up),
    };

    return cmocka_run_group_tests_name("upstream/call", tests, set_up_proc, NULL);
}
