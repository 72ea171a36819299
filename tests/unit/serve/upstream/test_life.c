// SPDX-License-Identifier: Apache-2.0
/* serve/upstream/life.c, upstream/wait.c: when a server is started, started again and ended. */
#include <signal.h>

#include "serve/upstream/private.h"
#include "tests/unit/serve/upstream/lib.h"

static void the_wait_doubles_up_to_a_minute(void **state)
{
    (void)state;
    for (unsigned streak = 0; streak < 40; streak++) {
        const int64_t doubled =
            streak < 16 ? (int64_t)AL_UPSTREAM_BACKOFF_FIRST_MS << streak : 60000;

        assert_int_equal(al_upstream_backoff_ms(streak), doubled < 60000 ? doubled : 60000);
    }
}

/* A server that is waiting to be started again in `left_ms`, without a thread. */
static int wait_for_failed(int64_t left_ms, bool failed_since, struct al_error *err)
{
    struct world world = world_new("legacy", "");
    struct al_upstream_wait wait;
    struct al_upstream *server;
    int r;

    world_make(&world);
    server = world.server;
    assert_int_equal(al_upstream_wait_begin(server, &wait, NULL), 0);
    server->has_thread = true;
    server->phase = AL_UPSTREAM_WAITING;
    server->next_start_ms = al_clock_ms() + left_ms;
    server->nfailures += failed_since;
    (void)al_error_set(&server->problem, AL_ERR_SANDBOX, "it broke");
    r = al_upstream_wait_ready(server, &wait, NULL, 0, err);
    server->has_thread = false;
    al_upstream_wait_end(server, &wait, "");
    world_clear(&world);
    return r;
}

static void a_call_waits_for_a_start_that_is_near(void **state)
{
    struct al_error err = AL_ERROR_INIT;

    (void)state;
    /* the deadline has passed, so a wait is a timeout */
    assert_int_equal(wait_for_failed(AL_UPSTREAM_PATIENCE_MS, false, NULL), AL_ERR_TIMEOUT);
    assert_int_equal(wait_for_failed(0, false, NULL), AL_ERR_TIMEOUT);
    assert_int_equal(wait_for_failed(60000, false, &err), AL_ERR_SANDBOX);
    assert_string_equal(err.message, "it broke; it is started again in 60 s");
    al_error_clear(&err);
    assert_int_equal(wait_for_failed(0, true, &err), AL_ERR_SANDBOX);
    al_error_clear(&err);
}

static void it_is_started_again(void **state)
{
    struct world world = world_new("legacy", "");
    struct al_upstream_state seen;

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    for (unsigned i = 1; i <= 3; i++) {
        assert_fails(&world, "kill_self", "{}", AL_ERR_EXECUTION,
                     "the call was lost: MCP server 'fake' was ended by signal 9");
        assert_gives(&world, "echo", "{}", "{}");
        al_upstream_get_state(world.server, &seen);
        assert_int_equal(world.server->nstarts, i + 1);
        assert_int_equal(seen.phase, AL_UPSTREAM_READY);
        assert_null(seen.problem);
        al_upstream_state_clear(&seen);
    }
    world_clear(&world);
}

static void its_tools_stay_known_while_it_is_away(void **state)
{
    struct world world = world_new("legacy", "");
    json_t *tools = NULL, *again = NULL;

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_fails(&world, "die", "{}", AL_ERR_EXECUTION, "the call was lost*");
    assert_int_equal(al_upstream_tools(world.server, 0, NULL, &tools, NULL), 0);
    assert_non_null(al_upstream_tools_find(tools, "die"));
    assert_gives(&world, "echo", "{}", "{}");
    assert_int_equal(al_upstream_tools(world.server, 0, NULL, &again, NULL), 0);
    assert_ptr_equal(again, tools); /* the same tools are the same list */
    json_decref(again);
    json_decref(tools);
    world_clear(&world);
}

/* A call on a thread of its own. */
struct caller {
    struct world *world;
    const char *tool;
    pthread_t thread;
    int event_fd; /* written when the client is asked: the server has the call */
    int r;
    struct al_error err;
};

static int on_question(void *payload, const char *method, const json_t *params,
                       struct al_cancel *cancel, json_t **ret_result, struct al_error *err)
{
    struct caller *caller = payload;
    struct pollfd fired = { .fd = al_cancel_fd(cancel), .events = POLLIN };
    const uint64_t one = 1;

    (void)method, (void)params, (void)ret_result;
    assert_int_equal(write(caller->event_fd, &one, sizeof(one)), sizeof(one));
    assert_int_equal(poll(&fired, 1, -1), 1);
    return al_error_set(err, AL_ERR_CANCELLED, "withdrawn");
}

static void *call_main(void *payload)
{
    struct caller *caller = payload;
    struct al_upstream_call call = { .timeout_ms = LONG_MS, .ask = on_question, .payload = caller };
    json_t *result = NULL;

    caller->r = call_with(caller->world, &call, caller->tool, "{}", &result, &caller->err);
    json_decref(result);
    return NULL;
}

static void start_call(struct caller *caller)
{
    uint64_t ignored;

    caller->event_fd = eventfd(0, EFD_CLOEXEC);
    caller->err = AL_ERROR_INIT;
    assert_int_equal(pthread_create(&caller->thread, NULL, call_main, caller), 0);
    assert_int_equal(read(caller->event_fd, &ignored, sizeof(ignored)), sizeof(ignored));
}

static void ending_it_fails_calls_in_flight(void **state)
{
    struct world world = world_new("legacy", "");
    struct caller caller = { .world = &world, .tool = "ask" };

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    start_call(&caller);
    al_upstream_end(world.server);
    assert_int_equal(pthread_join(caller.thread, NULL), 0);
    assert_int_equal(caller.r, AL_ERR_EXECUTION);
    assert_string_equal(caller.err.message, "the call was lost: MCP server 'fake' is being ended");
    al_error_clear(&caller.err);
    al_close(caller.event_fd);
    assert_fails(&world, "echo", "{}", AL_ERR_EXECUTION, "MCP server 'fake' is being ended");
    world_clear(&world);
    assert_no_children();
}

static void a_server_that_hangs_delays_no_other(void **state)
{
    struct world hanging = world_new("legacy", "hang"), good = world_new("legacy", "");
    json_t *tools = NULL;
    struct al_upstream_state seen;

    (void)state;
    world_make(&hanging);
    world_make(&good);
    al_upstream_start(hanging.server);
    al_upstream_start(good.server);
    assert_int_equal(al_upstream_tools(hanging.server, 0, NULL, &tools, NULL), AL_ERR_TIMEOUT);
    assert_int_equal(al_upstream_tools(good.server, LONG_MS, NULL, &tools, NULL), 0);
    json_decref(tools);
    al_upstream_get_state(hanging.server, &seen);
    assert_int_equal(seen.phase, AL_UPSTREAM_STARTING);
    al_upstream_state_clear(&seen);
    al_upstream_end(hanging.server);
    al_upstream_end(good.server);
    world_clear(&hanging);
    world_clear(&good);
    assert_no_children();
}

static void a_wait_can_be_cancelled(void **state)
{
    struct world world = world_new("legacy", "hang");
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    json_t *tools = NULL;

    (void)state;
    world_make(&world);
    al_cancel_fire(cancel);
    assert_int_equal(al_upstream_tools(world.server, LONG_MS, cancel, &tools, NULL),
                     AL_ERR_CANCELLED);
    world_clear(&world);
}

static void nothing_is_left_of_it(void **state)
{
    static const char *const starts[] = { "", "ignore_end" };
    int pids[2];

    (void)state;
    for (size_t i = 0; i < COUNT(starts); i++) {
        struct world world = world_new("legacy", starts[i]);
        struct al_upstream_call call = { .timeout_ms = LONG_MS };
        al_auto(al_freep) char *scratch = al_strdup(world.scratch_dir);
        json_t *result = NULL;

        assert_int_equal(start_fake(&world, NULL), 0);
        assert_int_equal(call_with(&world, &call, "leave_children", "{}", &result, NULL), 0);
        assert_int_equal(sscanf(text_of(result), "%d %d", &pids[0], &pids[1]), 2);
        json_decref(result);
        assert_int_equal(kill(pids[0], 0), 0);
        assert_int_equal(kill(pids[1], 0), 0);
        assert_int_equal(access(scratch, F_OK), 0);
        world_clear(&world);
        assert_int_equal(kill(pids[0], 0), -1);
        assert_int_equal(kill(pids[1], 0), -1);
        assert_int_equal(access(scratch, F_OK), -1);
        assert_no_children();
    }
}

static void what_never_started_is_freed(void **state)
{
    struct world world = world_new("legacy", ""), missing = world_new("legacy", "");
    struct al_error err = AL_ERROR_INIT;

    (void)state;
    world_make(&world);
    world_clear(&world);
    al_strv_clear(&missing.command);
    al_strv_add(&missing.command, "no-such-program");
    assert_int_equal(start_fake(&missing, &err), AL_ERR_EXECUTION);
    assert_memory_equal(err.message, "MCP server 'fake': there is no program 'no-such-program'",
                        56);
    al_error_clear(&err);
    world_clear(&missing);
    al_upstream_free(NULL);
}

static void calls_run_beside_each_other(void **state)
{
    struct world world = world_new("legacy", "");
    struct caller first = { .world = &world, .tool = "ask" };
    struct al_upstream_call call = { .timeout_ms = 30 };

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    start_call(&first);
    /* the fake serves one call at a time: this one is sent, and given up */
    assert_fails_with(&world, &call, "echo", "{}", AL_ERR_TIMEOUT,
                      "MCP server 'fake' did not answer within 30 ms");
    al_upstream_end(world.server);
    assert_int_equal(pthread_join(first.thread, NULL), 0);
    al_error_clear(&first.err);
    al_close(first.event_fd);
    world_clear(&world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wait_doubles_up_to_a_minute),
        cmocka_unit_test(a_call_waits_for_a_start_that_is_near),
        cmocka_unit_test(it_is_started_again),
        cmocka_unit_test(its_tools_stay_known_while_it_is_away),
        cmocka_unit_test(ending_it_fails_calls_in_flight),
        cmocka_unit_test(a_server_that_hangs_delays_no_other),
        cmocka_unit_test(a_wait_can_be_cancelled),
        cmocka_unit_test(nothing_is_left_of_it),
        cmocka_unit_test(what_never_started_is_freed),
        cmocka_unit_test(calls_run_beside_each_other),
    };

    return cmocka_run_group_tests_name("upstream/life", tests, set_up_proc, NULL);
}
