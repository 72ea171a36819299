// SPDX-License-Identifier: Apache-2.0
/* mcp/backlog.c: as many read-only calls run at once as there are jobs. */
#include <errno.h>
#include <stdatomic.h>

#include "proc/jobs.h"
#include "proc/proc.h"
#include "tests/unit/mcp/server_lib.h"
#include "util/fs.h"
#include "wire/jsonrpc.h"

#define CANCEL                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}"

static atomic_bool no_threads;
static atomic_llong now_ms;

/* The clock is the test's. */
int64_t __wrap_al_clock_ms(void);

int64_t __wrap_al_clock_ms(void)
{
    return atomic_load(&now_ms);
}

/* Replaces pthread_create(), so that a test can make it fail. */
int __real_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *payload);
int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *payload);

int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *payload)
{
    if (atomic_load(&no_threads))
        return EAGAIN;
    return __real_pthread_create(ret_thread, attr, start, payload);
}

static struct client *start(unsigned slots)
{
    al_proc_set_jobs(slots);
    return client_start(fake_session(), false);
}

/* Send `count` calls at once, with ids from `first` on. */
static void send_looks(struct client *client, int first, int count)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (int id = first; id < first + count; id++)
        al_str_addf(&text, CALL "\n", id, "look");
    assert_int_equal(al_write_all(client->to_server, text.buf, text.len), 0);
}

/* Let one call end, which must be this one. */
static void expect_through(struct client *client, int id)
{
    al_auto(al_freep) char *text = al_asprintf("%d", id);

    fake_open_gate(1);
    client_expect_text(client, text, "through");
}

/* `limit` calls run at once; the rest begin one by one, in the order in which they were sent. */
static void look_at(unsigned limit, unsigned count)
{
    struct client *client = start(limit);
    const unsigned now = count < limit ? count : limit;

    send_looks(client, 1, (int)count);
    client_expect_alive(client); /* all calls were read */
    fake_wait_at_gate(now);
    assert_int_equal(fake_calls(), now);
    for (unsigned ended = 1; ended <= count; ended++) {
        unsigned begun = now + ended < count ? now + ended : count;

        fake_open_gate(1);
        al_auto(al_json_decrefp) json_t *message = client_read(client);

        assert_non_null(json_object_get(message, "result"));
        if (limit == 1)
            assert_int_equal(json_integer_value(json_object_get(message, "id")), ended);
        fake_wait_at_gate(begun);
        assert_int_equal(fake_calls(), begun);
    }
    client_finish(client);
}

static void no_more_run_at_once_than_children_may(void **state)
{
    static const unsigned limits[] = { 1, 2, 3 };

    (void)state;
    for (size_t i = 0; i < COUNT(limits); i++) {
        look_at(limits[i], limits[i] > 1 ? limits[i] - 1 : 1);
        look_at(limits[i], limits[i]);
        look_at(limits[i], limits[i] + 1);
        look_at(limits[i], limits[i] + 20);
    }
}

/* Calls that run for AL_JOB_LONG_MS make room for others. */
static void slow_ones_hold_up_no_quick_one(void **state)
{
    struct client *client = start(2);

    (void)state;
    send_looks(client, 1, 5);
    client_expect_alive(client);
    fake_wait_at_gate(2);
    atomic_fetch_add(&now_ms, AL_JOB_LONG_MS - 1);
    client_expect_alive(client);
    assert_int_equal(fake_calls(), 2);
    atomic_fetch_add(&now_ms, 1);
    fake_wait_at_gate(4);
    assert_int_equal(fake_calls(), 4);
    atomic_fetch_add(&now_ms, AL_JOB_LONG_MS);
    fake_wait_at_gate(5);
    send_looks(client, 6, 1); /* there is room at once */
    fake_wait_at_gate(6);
    client_abandon(client);
}

/* More than AL_JOB_LONG_MAX long calls leave room for one recent call at a time. */
static void one_place_is_left_for_a_newcomer(void **state)
{
    struct client *client = start(2);
    unsigned begun = 0;

    (void)state;
    send_looks(client, 1, 40);
    client_expect_alive(client);
    while (begun < 40) {
        begun += begun < 18 ? 2 : 1;
        fake_wait_at_gate(begun);
        client_expect_alive(client);
        assert_int_equal(fake_calls(), begun);
        atomic_fetch_add(&now_ms, AL_JOB_LONG_MS);
    }
    client_abandon(client);
}

static void one_comes_while_others_end(void **state)
{
    struct client *client = start(1);

    (void)state;
    for (int first = 1; first < 90; first += 3) { /* the backlog is empty each time */
        send_looks(client, first, 2);
        client_expect_alive(client); /* they were read */
        expect_through(client, first);
        fake_wait_at_gate((unsigned)first + 1);
        send_looks(client, first + 2, 1);
        client_expect_alive(client);
        expect_through(client, first + 1);
        expect_through(client, first + 2);
    }
    client_finish(client);
}

static void what_does_more_than_read_does_not_wait(void **state)
{
    struct client *client = start(1);

    (void)state;
    send_looks(client, 1, 3);
    fake_wait_at_gate(1);
    for (int id = 4; id < 12; id++)
        client_send(client, CALL, id, "gate");
    fake_wait_at_gate(9);
    assert_int_equal(fake_calls(), 9);
    client_abandon(client);
}

/* Read the elicitation.  Returns its id as JSON. */
static char *read_question(struct client *client)
{
    al_auto(al_json_decrefp) json_t *message = client_read(client);

    assert_string_equal(al_json_get_string(message, "method"), "elicitation/create");
    return al_asprintf("\"%s\"", al_json_get_string(message, "id"));
}

static void answer(struct client *client, const char *id)
{
    client_send(client,
                "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"action\":\"accept\","
                "\"content\":{\"decision\":\"once\"}}}",
                id);
}

static void others_go_on_while_the_user_is_asked(void **state)
{
    struct client *client = start(1);

    (void)state;
    client_initialize(client, "2025-11-25", "{\"elicitation\":{}}");
    send_looks(client, 1, 1);
    client_send(client, CALL, 2, "ask");
    send_looks(client, 3, 2);
    client_expect_alive(client);
    fake_wait_at_gate(1);
    assert_int_equal(fake_calls(), 1);
    expect_through(client, 1);
    al_auto(al_freep) char *question = read_question(client);

    fake_wait_at_gate(2); /* the call behind it */
    answer(client, question);
    client_expect_text(client, "2", "once");
    client_expect_alive(client);
    assert_int_equal(fake_calls(), 3);
    expect_through(client, 3);
    expect_through(client, 4);
    send_looks(client, 5, 2); /* the call that asked was counted once only */
    client_expect_alive(client);
    fake_wait_at_gate(4);
    assert_int_equal(fake_calls(), 5);
    expect_through(client, 5);
    expect_through(client, 6);
    client_finish(client);
}

static void one_that_is_cancelled_waits_no_longer(void **state)
{
    static const int which[] = { 2, 3, 4 }; /* the first, one in the middle, the last */

    (void)state;
    for (size_t i = 0; i < COUNT(which); i++) {
        struct client *client = start(1);

        send_looks(client, 1, 4);
        client_expect_alive(client);
        fake_wait_at_gate(1);
        client_send(client, CANCEL, which[i]);
        fake_wait_cancelled(1);
        send_looks(client, 5, 1); /* at the end of the backlog */
        client_expect_alive(client);
        assert_int_equal(fake_calls(), 2);
        for (int id = 1; id <= 5; id++)
            if (id != which[i])
                expect_through(client, id);
        client_finish(client);
    }
}

static void all_may_be_cancelled_at_once(void **state)
{
    struct client *client = start(1);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    send_looks(client, 1, 30);
    for (int id = 30; id > 1; id--)
        al_str_addf(&text, CANCEL "\n", id);
    assert_int_equal(al_write_all(client->to_server, text.buf, text.len), 0);
    fake_wait_cancelled(29);
    send_looks(client, 31, 1);
    client_expect_alive(client);
    expect_through(client, 1);
    expect_through(client, 31);
    client_finish(client);
}

/* A cancelled call that does not end blocks no other. */
static void one_that_is_cancelled_holds_up_no_other(void **state)
{
    struct client *client = start(1);

    (void)state;
    client_send(client, CALL, 1, "stuck");
    send_looks(client, 2, 2);
    client_expect_alive(client);
    fake_wait_at_gate(1);
    assert_int_equal(fake_calls(), 1);
    client_send(client, CANCEL, 1);
    fake_wait_at_gate(2);
    fake_free_stuck();
    expect_through(client, 2);
    expect_through(client, 3);
    client_finish(client);
}

static void the_end_cancels_those_that_were_not_begun(void **state)
{
    struct client *client = start(2);

    (void)state;
    send_looks(client, 1, 20);
    client_expect_alive(client);
    client_finish(client); /* nothing more is said */
    fake_wait_cancelled(20);
}

/* Let every thread but the last run a call. */
static void use_up_threads(struct client *client, int id)
{
    bool refused = false;

    atomic_store(&no_threads, true);
    for (; !refused; id++) {
        client_send(client, CALL "\n{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}", id,
                    "gate");
        al_auto(al_json_decrefp) json_t *message = client_read(client);

        refused = json_object_get(message, "error");
        if (refused)
            client_expect(client, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}");
    }
}

/* A queued call stays in its place while no thread is free. */
static void one_that_finds_no_thread_waits_for_one(void **state)
{
    struct client *client = start(1);

    (void)state;
    client_initialize(client, "2025-11-25", "{\"elicitation\":{}}");
    send_looks(client, 1, 1);
    fake_wait_at_gate(1);
    use_up_threads(client, 10);
    client_send(client, CALL, 2, "ask");
    send_looks(client, 3, 1);
    client_expect_alive(client);
    client_send(client, CANCEL, 1); /* its thread runs the next one */
    al_auto(al_freep) char *question = read_question(client);

    client_send(client, CANCEL, 3);
    send_looks(client, 4, 2);
    client_expect_alive(client);
    answer(client, question);
    client_expect_text(client, "2", "once");
    atomic_store(&no_threads, false);
    client_send(client, CANCEL, 4);
    client_send(client, CANCEL, 5);
    fake_wait_cancelled(4);
    client_abandon(client);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_run_at_once_than_children_may),
        cmocka_unit_test(slow_ones_hold_up_no_quick_one),
        cmocka_unit_test(one_place_is_left_for_a_newcomer),
        cmocka_unit_test(one_comes_while_others_end),
        cmocka_unit_test(what_does_more_than_read_does_not_wait),
        cmocka_unit_test(others_go_on_while_the_user_is_asked),
        cmocka_unit_test(one_that_is_cancelled_waits_no_longer),
        cmocka_unit_test(all_may_be_cancelled_at_once),
        cmocka_unit_test(one_that_is_cancelled_holds_up_no_other),
        cmocka_unit_test(the_end_cancels_those_that_were_not_begun),
        cmocka_unit_test(one_that_finds_no_thread_waits_for_one),
    };

    return cmocka_run_group_tests_name("mcp/backlog", tests, NULL, NULL);
}
