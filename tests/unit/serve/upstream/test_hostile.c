// SPDX-License-Identifier: Apache-2.0
/* Servers that misbehave: each costs the one call concerned, and says so in one line. */
#include "base/jsonrpc.h"
#include "base/reader.h"
#include "serve/upstream/private.h"
#include "tests/unit/serve/upstream/lib.h"

/* A call that fails, or gives a text; and whether the process survives it. */
struct row {
    const char *tool, *arguments;
    int status; /* 0: it gives `wanted` */
    const char *wanted;
    bool ends; /* the process has to be started again */
};

static const struct row rows[] = {
    { "wrong_ids", "{}", 0, "mine", false },
    { "garbage", "{}", 0, "still here", false },
    { "late", "{}", AL_ERR_TIMEOUT, "MCP server 'fake' did not answer within 30 ms", false },
    { "error", "{}", AL_ERR_EXECUTION, "MCP server 'fake' answered with error -32602: bad thing",
      false },
    { "twice_named", "{}", AL_ERR_EXECUTION,
      "MCP server 'fake' answered with the same name twice in one object", false },
    { "die", "{}", AL_ERR_EXECUTION,
      "the call was lost: MCP server 'fake' ended with exit code 7: boom red", true },
    { "kill_self", "{}", AL_ERR_EXECUTION,
      "the call was lost: MCP server 'fake' was ended by signal 9", true },
    { "half_line", "{}", AL_ERR_EXECUTION,
      "the call was lost: MCP server 'fake' ended with exit code 0", true },
    { "close_output", "{}", AL_ERR_EXECUTION,
      "the call was lost: MCP server 'fake' has closed its output", true },
    { "no_result", "{\"value\":null}", AL_ERR_EXECUTION,
      "MCP server 'fake' answered with something that is no result of a tool", false },
    { "no_result", "{\"value\":[]}", AL_ERR_EXECUTION,
      "MCP server 'fake' answered with something that is no result of a tool", false },
    { "no_result", "{\"value\":{}}", AL_ERR_EXECUTION,
      "MCP server 'fake' answered with something that is no result of a tool", false },
    { "no_result", "{\"value\":{\"content\":{}}}", AL_ERR_EXECUTION,
      "MCP server 'fake' answered with something that is no result of a tool", false },
    { "no_result", "{\"value\":{\"content\":[1]}}", AL_ERR_EXECUTION,
      "MCP server 'fake' answered with something that is no result of a tool", false },
    { "no_result", "{\"value\":{\"content\":[{\"text\":\"x\"}]}}", AL_ERR_EXECUTION,
      "MCP server 'fake' answered with something that is no result of a tool", false },
    { "no_result", "{\"value\":{\"content\":[{\"type\":\"text\",\"text\":\"fits\"}]}}", 0, "fits",
      false },
    { "structured", "{}", 0, "s", false },
    { "structured", "{\"structuredContent\":{\"n\":\"1\"}}", 0, "s", false },
    { "structured", "{\"structuredContent\":{\"n\":1,\"more\":2}}", 0, "s", false },
};

static void a_bad_answer_costs_one_call(void **state)
{
    struct world world = world_new("legacy", ""), other = world_new("modern", "");
    unsigned nstarts = 1;

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_int_equal(start_fake(&other, NULL), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        struct al_upstream_call call = { .timeout_ms =
                                             row->status == AL_ERR_TIMEOUT ? 30 : LONG_MS };

        if (row->status)
            assert_fails_with(&world, &call, row->tool, row->arguments, row->status, row->wanted);
        else
            assert_gives(&world, row->tool, row->arguments, row->wanted);
        assert_gives(&world, "echo", "{\"a\":1}", "{\"a\": 1}");
        assert_gives(&other, "echo", "{\"a\":2}", "{\"a\": 2}");
        nstarts += row->ends;
        if (world.server->nstarts != nstarts)
            fail_msg("%s: %u starts", row->tool, world.server->nstarts);
    }
    world_clear(&world);
    world_clear(&other);
    assert_no_children();
}

/* Each limit just below, at and above. */
static void sizes_are_bounded(void **state)
{
    static const struct {
        const char *tool, *name;
        long limit;
        bool fits_at; /* exactly the limit fits */
        int status;
        const char *wanted;
    } limits[] = {
        { "long_line", "bytes", AL_LINE_MAX_BYTES, true, AL_ERR_EXECUTION,
          "MCP server 'fake' sent a line of more than 10 MiB" },
        { "deep", "levels", AL_UPSTREAM_RESULT_MAX_DEPTH, true, AL_ERR_EXECUTION,
          "MCP server 'fake' answered with a result that is nested too deeply" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct world world = world_new("legacy", "");

        assert_int_equal(start_fake(&world, NULL), 0);
        for (int by = -1; by <= 1; by++) {
            struct al_upstream_call call = { .timeout_ms = LONG_MS };
            al_auto(al_freep) char *arguments =
                al_asprintf("{\"%s\":%ld}", limits[i].name, limits[i].limit + by);
            json_t *result = NULL;

            if (by == 1) {
                assert_fails(&world, limits[i].tool, arguments, limits[i].status, limits[i].wanted);
                continue;
            }
            assert_int_equal(call_with(&world, &call, limits[i].tool, arguments, &result, NULL), 0);
            json_decref(result);
        }
        assert_gives(&world, "echo", "{}", "{}");
        world_clear(&world);
    }
}

static void a_very_long_line_costs_one_call(void **state)
{
    struct world world = world_new("legacy", "");

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_fails(&world, "long_line", "{\"bytes\":52428800}", AL_ERR_EXECUTION,
                 "MCP server 'fake' sent a line of more than 10 MiB");
    assert_gives(&world, "echo", "{}", "{}");
    assert_gives(&world, "long_note", "{\"bytes\":20971520}", "noted"); /* it answers no call */
    world_clear(&world);
}

static void too_many_values_are_no_answer(void **state)
{
    struct world world = world_new("legacy", "");
    struct al_upstream_call call = { .timeout_ms = LONG_MS };

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_fails_with(&world, &call, "many_values", "{\"count\":600000}", AL_ERR_EXECUTION,
                      "MCP server 'fake' sent a message of too many values");
    assert_gives(&world, "echo", "{}", "{}");
    world_clear(&world);
}

/* A server that writes to standard error without end does not keep a core busy: it is read so much
 * in a period, and no more. */
static void errors_wait(void **state)
{
    struct world world = world_new("legacy", "");

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_gives(&world, "noise", "{}", "had to wait");
    assert_gives(&world, "echo", "{}", "{}");
    world_clear(&world);
}

static void floods_are_bounded(void **state)
{
    struct world world = world_new("legacy", "");
    /* what comes with the handshake counts too: one answer each to two probes */
    al_auto(al_freep) char *below = al_asprintf("{\"count\":%u}", AL_UPSTREAM_USELESS_MAX - 1);
    struct al_upstream_state seen;

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_gives(&world, "flood", below, "flooded");
    assert_gives(&world, "flood", "{\"count\":1}", "flooded");
    assert_fails(&world, "flood", "{\"count\":1}", AL_ERR_EXECUTION,
                 "the call was lost: MCP server 'fake' floods airlock with messages that nobody "
                 "asked for");
    assert_gives(&world, "echo", "{}", "{}");
    assert_fails(&world, "flood", "{\"count\":1000000}", AL_ERR_EXECUTION,
                 "the call was lost: MCP server 'fake' floods airlock with messages that nobody "
                 "asked for");
    al_upstream_get_state(world.server, &seen);
    assert_non_null(seen.problem);
    al_upstream_state_clear(&seen);
    world_clear(&world);
}

static void assert_start_fails(const char *start, uint32_t timeout_ms, int status,
                               const char *wanted)
{
    struct world world = world_new("legacy", start), other = world_new("legacy", "");
    const size_t len = strcspn(wanted, "*");
    struct al_error err = AL_ERROR_INIT;
    int r;

    world.settings.timeout_ms = timeout_ms;
    assert_int_equal(start_fake(&other, NULL), 0);
    r = start_fake(&world, &err);
    assert_gives(&other, "echo", "{}", "{}");
    if (r == 0 || strncmp(err.message, wanted, len) != 0)
        fail_msg("%s: %s", start, r < 0 ? err.message : "it started");
    assert_int_equal(r, status);
    al_error_clear(&err);
    world_clear(&world);
    world_clear(&other);
    assert_no_children();
}

static void a_server_that_does_not_start_says_why(void **state)
{
    (void)state;
    assert_start_fails("exit", LONG_MS, AL_ERR_EXECUTION,
                       "MCP server 'fake' ended with exit code 4: no such luck; it is started*");
    assert_start_fails("hang", 50, AL_ERR_TIMEOUT,
                       "MCP server 'fake' did not answer initialize within 50 ms*");
    assert_start_fails("garbage", LONG_MS, AL_ERR_EXECUTION,
                       "MCP server 'fake' floods airlock with messages that nobody asked for*");
    assert_start_fails("half", 50, AL_ERR_TIMEOUT,
                       "MCP server 'fake' did not answer initialize within 50 ms*");
    assert_start_fails("close", LONG_MS, AL_ERR_EXECUTION,
                       "MCP server 'fake' has closed its output*");
    /* of a handshake on a busy machine, else of the list */
    assert_start_fails("list_hangs", 1000, AL_ERR_TIMEOUT, "MCP server 'fake' did not answer *");
}

/* A long line is no reason to give up a server that starts. */
static void a_long_line_at_the_start_is_skipped(void **state)
{
    struct world world = world_new("modern", "long");
    struct al_error err = AL_ERROR_INIT;

    (void)state;
    if (start_fake(&world, &err) < 0)
        fail_msg("%s", err.message);
    assert_gives(&world, "echo", "{}", "{}");
    world_clear(&world);
}

static void a_server_that_does_not_read_is_not_waited_for(void **state)
{
    struct world world = world_new("legacy", "");
    struct al_upstream_call call = { .timeout_ms = 30 };
    al_auto(al_str_clear) struct al_str large = AL_STR_INIT;

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_fails_with(&world, &call, "stop_reading", "{}", AL_ERR_TIMEOUT,
                      "MCP server 'fake' did not answer within 30 ms");
    al_str_adds(&large, "{\"a\":\"");
    for (int i = 0; i < 3 << 16; i++)
        al_str_adds(&large, "0123456789abcdef");
    al_str_adds(&large, "\"}");
    assert_fails_with(&world, &call, "echo", large.buf, AL_ERR_TIMEOUT,
                      "MCP server 'fake' did not answer within 30 ms");
    call.timeout_ms = LONG_MS;
    assert_fails_with(&world, &call, "echo", "{}", AL_ERR_EXECUTION,
                      "MCP server 'fake' does not read its input");
    world_clear(&world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_answer_costs_one_call),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(a_very_long_line_costs_one_call),
        cmocka_unit_test(too_many_values_are_no_answer),
        cmocka_unit_test(floods_are_bounded),
        cmocka_unit_test(errors_wait),
        cmocka_unit_test(a_server_that_does_not_start_says_why),
        cmocka_unit_test(a_long_line_at_the_start_is_skipped),
        cmocka_unit_test(a_server_that_does_not_read_is_not_waited_for),
    };

    return cmocka_run_group_tests_name("upstream/hostile", tests, set_up_proc, NULL);
}
