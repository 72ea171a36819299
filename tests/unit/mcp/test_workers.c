// SPDX-License-Identifier: Apache-2.0
/* mcp/workers.h: the leader runs the call that it reads, and a follower reads on meanwhile. */
#include "mcp/workers.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tests/unit/mcp/server_lib.h"
#include "util/fs.h"
#include "wire/jsonrpc.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}"
#define PONG "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}"
#define CANCEL                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}"

/* Free threads that are kept.  Others: the thread of al_mcp_serve() and the flusher. */
#define FREE   8
#define OTHERS 2

static size_t before_all; /* threads before the first test; a sanitizer has its own */

static atomic_bool no_threads;
static atomic_bool hold_threads; /* pthread_create() blocks while it is set */
static atomic_bool held;         /* a thread is blocked there */
static atomic_uint made;
static atomic_uint waiting; /* followers */

/* Replaces pthread_create(), so that a test can make it fail or block. */
int __real_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *payload);
int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *payload);

int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *payload)
{
    if (atomic_load(&no_threads))
        return EAGAIN;
    while (atomic_load(&hold_threads)) {
        atomic_store(&held, true);
        (void)sched_yield();
    }
    atomic_fetch_add(&made, 1);
    return __real_pthread_create(ret_thread, attr, start, payload);
}

/* Replaces epoll_wait() and counts who is in it. */
int __real_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms);

int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
    int n;

    atomic_fetch_add(&waiting, 1);
    n = __real_epoll_wait(fd, events, max, timeout_ms);
    atomic_fetch_sub(&waiting, 1);
    return n;
}

static void send_bytes(struct client *client, const char *data, size_t len)
{
    assert_int_equal(al_write_all(client->to_server, data, len), 0);
}

static void send_text(struct client *client, const struct al_str *text)
{
    send_bytes(client, text->buf, text->len);
}

static void expect_answers(struct client *client, int count)
{
    bool answered[100] = { false };

    for (int i = 0; i < count; i++) {
        al_auto(al_json_decrefp) json_t *message = client_read(client);
        json_int_t id = json_integer_value(json_object_get(message, "id"));

        assert_non_null(json_object_get(message, "result"));
        assert_in_range(id, 1, count);
        assert_false(answered[id]);
        answered[id] = true;
    }
}

static void what_is_behind_calls_is_served_before_they_end(void **state)
{
    struct client *client = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (int id = 1; id <= 64; id++)
        al_str_addf(&text, CALL "\n", id, "gate");
    al_str_adds(&text, PING "\n");
    send_text(client, &text);
    client_expect(client, PONG);
    fake_wait_at_gate(64);
    fake_open_gate(64);
    expect_answers(client, 64);
    assert_in_range(fake_threads(), 64, 64);
}

/* Send `count` calls at once, and let them end when all have begun.  *before counts earlier calls.
 */
static void burst(struct client *client, unsigned *before, unsigned count)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (unsigned id = 1; id <= count; id++)
        al_str_addf(&text, CALL "\n", (int)id, "gate");
    send_text(client, &text);
    *before += count;
    fake_wait_at_gate(*before);
    fake_open_gate(count);
    expect_answers(client, (int)count);
}

/* Threads of this process. */
static size_t count_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    size_t count = 0;

    if (!dir)
        abort();
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* Wait until there are `count` workers and all of them are followers. */
static void wait_for_threads(size_t count)
{
    while (atomic_load(&waiting) != count)
        (void)sched_yield();
    while (count_threads() != before_all + OTHERS + count)
        (void)sched_yield();
}

/* FREE threads are kept for the next calls; the others of a burst end. */
static void threads_of_a_burst_end(void **state)
{
    static const unsigned sizes[] = { FREE - 2, FREE - 1, FREE, 64 };
    struct client *client = *state;
    unsigned calls = 0;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        const unsigned kept = sizes[i] < FREE ? sizes[i] + 1 : FREE; /* one more thread reads */
        unsigned before;

        burst(client, &calls, sizes[i]);
        wait_for_threads(kept);
        before = atomic_load(&made);
        burst(client, &calls, kept - 1);
        assert_int_equal(atomic_load(&made), before);
        wait_for_threads(kept);
        client_expect_alive(client);
    }
}

static void a_call_and_its_cancellation_come_together(void **state)
{
    struct client *client = *state;

    for (int i = 1; i <= 20; i++) {
        client_send(client, CALL "\n" CANCEL "\n" PING, i, "gate", i);
        client_expect(client, PONG);
        fake_wait_cancelled((unsigned)i);
    }
    for (int i = 1; i <= 20; i++) { /* with the cancel token of a cancelled call */
        client_send(client, CALL, 20 + i, "gate");
        fake_wait_at_gate(20 + (unsigned)i);
        fake_open_gate(1);
        al_auto(al_freep) char *id = al_asprintf("%d", 20 + i);
        client_expect_text(client, id, "through");
    }
}

/* The end of input cancels the call, with a line end before it and without. */
static void the_end_comes_right_behind_a_call(void **state)
{
    static const char *const ends[] = { "\n", "", "\r\n\n" };

    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++) {
        struct client *client = client_start(fake_session(), i % 2);
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        al_str_addf(&text, "%s\n" CALL "%s", PING, 1, "gate", ends[i]);
        send_text(client, &text);
        close(al_take_fd(&client->to_server));
        client_expect(client, PONG);
        fake_wait_cancelled(1);
        client_finish(client);
        assert_int_equal(fake_calls(), 1);
    }
}

static void a_call_without_a_thread_to_read_on_is_refused(void **state)
{
    struct client *client = *state;
    unsigned taken = 1;
    bool refused = false;

    client_send(client, CALL, 1, "gate");
    client_expect_alive(client); /* by another thread */
    atomic_store(&no_threads, true);
    for (int id = 2; id <= 4 && !refused; id++) {
        client_send(client, CALL "\n" PING, id, "gate");
        al_auto(al_json_decrefp) json_t *message = client_read(client);
        const json_t *error = json_object_get(message, "error");

        refused = error != NULL;
        if (refused) {
            assert_int_equal(json_integer_value(json_object_get(message, "id")), id);
            assert_int_equal(json_integer_value(json_object_get(error, "code")),
                             AL_RPC_INTERNAL_ERROR);
            client_expect(client, PONG);
        } else {
            taken++;
        }
    }
    assert_true(refused);
    fake_wait_at_gate(taken);
    fake_open_gate(taken);
    expect_answers(client, (int)taken);
    do { /* the threads of those calls are free a moment after their answers */
        client_send(client, CALL, 5, "echo");
        al_auto(al_json_decrefp) json_t *message = client_read(client);

        refused = !json_object_get(message, "result");
    } while (refused);
    atomic_store(&no_threads, false);
}

/* A thread whose call ends rejoins the pool while another thread waits in pthread_create(). */
static void a_thread_that_takes_long_to_begin_holds_up_no_other(void **state)
{
    struct client *client = *state;

    wait_for_threads(2);
    client_send(client, CALL, 1, "gate");
    fake_wait_at_gate(1);
    atomic_store(&held, false);
    atomic_store(&hold_threads, true);
    client_send(client, CALL, 2, "gate"); /* needs another thread to read on */
    while (!atomic_load(&held))
        (void)sched_yield();
    assert_int_equal(atomic_load(&waiting), 0);
    fake_open_gate(1);
    client_expect_text(client, "1", "through");
    while (atomic_load(&waiting) != 1) /* the thread of that call */
        (void)sched_yield();
    atomic_store(&hold_threads, false);
    fake_wait_at_gate(2);
    fake_open_gate(1);
    client_expect_text(client, "2", "through");
}

static void *say_number(void *payload)
{
    *(pid_t *)payload = gettid();
    return NULL;
}

/* A sanitizer starts its own thread with the first one; a joined thread is listed a moment longer.
 */
static size_t count_threads_without_a_crew(void)
{
    pid_t number = 0;
    pthread_t first;

    if (pthread_create(&first, NULL, say_number, &number) != 0 || pthread_join(first, NULL) != 0)
        abort();
    while (tgkill(getpid(), number, 0) == 0)
        (void)sched_yield();
    return count_threads();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SERVER_TEST(what_is_behind_calls_is_served_before_they_end),
        SOCKET_TEST(what_is_behind_calls_is_served_before_they_end),
        SERVER_TEST(threads_of_a_burst_end),
        SERVER_TEST(a_call_and_its_cancellation_come_together),
        cmocka_unit_test(the_end_comes_right_behind_a_call),
        SERVER_TEST(a_call_without_a_thread_to_read_on_is_refused),
        SERVER_TEST(a_thread_that_takes_long_to_begin_holds_up_no_other),
    };

    before_all = count_threads_without_a_crew();
    return cmocka_run_group_tests_name("mcp/workers", tests, NULL, NULL);
}
