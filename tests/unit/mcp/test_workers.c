// SPDX-License-Identifier: Apache-2.0
/* mcp/workers.h: whoever reads a call runs it, and what comes behind it is read meanwhile. */
#include "mcp/workers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mcp/jsonrpc.h"
#include "mcp/writer.h"
#include "tests/unit/mcp/server_lib.h"
#include "util/fs.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}"
#define PONG "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}"
#define CANCEL                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}"

/* What the parser takes, about. */
#define DEEP 2030

/* Threads that wait for good, and that may after a burst; whoever waits for the crew and the
 * output's pump; and what was there before, which a sanitizer may add to. */
#define FREE       8
#define FREE_BURST 64
#define OTHERS     2

static size_t before_all;

static atomic_bool no_threads;
static atomic_bool hold_threads; /* nobody gets one before a test says so */
static atomic_bool held;         /* somebody waits for one */
static atomic_uint made;
static atomic_uint waiting;      /* for the turn */
static atomic_bool time_is_over; /* for whoever waits no longer than some time */

/* The machine has no thread left when a test says so; the linker puts this in the way. */
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

/* Nobody waits for time to pass: it is over when a test says so. */
int __real_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms);

int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
    int n;

    atomic_fetch_add(&waiting, 1);
    do
        n = __real_epoll_wait(fd, events, max, timeout_ms > 0 ? 1 : timeout_ms);
    while (n == 0 && timeout_ms > 0 && !atomic_load(&time_is_over));
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

/* Wait until the server has taken everything that was sent. */
static void wait_until_read(const struct client *client)
{
    int left = 1;

    while (left) {
        assert_int_equal(ioctl(client->to_server, FIONREAD, &left), 0);
        (void)sched_yield();
    }
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

/* As many calls at once, each of which has to be there before the first of them ends; `before` of
 * them there were. */
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

/* Of the crew, and none of them runs a call. */
static void wait_for_threads(size_t count)
{
    while (atomic_load(&waiting) != count)
        (void)sched_yield();
    while (count_threads() != before_all + OTHERS + count)
        (void)sched_yield();
}

/* What a burst made is there for the next one, up to a number, and goes when none comes. */
static void threads_of_a_burst_wait_for_another(void **state)
{
    static const unsigned sizes[] = { FREE_BURST - 1, FREE_BURST, FREE_BURST + 1 };
    struct client *client = *state;
    unsigned calls = 0;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        const unsigned kept = sizes[i] < FREE_BURST ? sizes[i] + 1 : FREE_BURST;
        unsigned before;

        atomic_store(&time_is_over, false);
        burst(client, &calls, sizes[i]);
        wait_for_threads(kept);
        before = atomic_load(&made);
        burst(client, &calls, kept - 1); /* one more is there to read */
        assert_int_equal(atomic_load(&made), before);
        wait_for_threads(kept);
        atomic_store(&time_is_over, true);
        wait_for_threads(FREE);
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
    for (int i = 1; i <= 20; i++) { /* with the token of one that was cancelled */
        client_send(client, CALL, 20 + i, "gate");
        fake_wait_at_gate(20 + (unsigned)i);
        fake_open_gate(1);
        al_auto(al_freep) char *id = al_asprintf("%d", 20 + i);
        client_expect_text(client, id, "through");
    }
}

/* The end cancels it, with the line end and without. */
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

static void a_message_may_be_cut_anywhere(void **state)
{
    struct client *client = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_addf(&text, CALL "\n" PING "\n", 1, "gate");
    for (size_t cut = 1; cut < text.len; cut++) {
        send_bytes(client, text.buf, cut);
        wait_until_read(client);
        send_bytes(client, text.buf + cut, text.len - cut);
        client_expect(client, PONG);
        fake_wait_at_gate((unsigned)cut);
        fake_open_gate(1);
        client_expect_text(client, "1", "through");
    }
}

/* Ids whose digits only the line has, so that the line must outlast the calls that left it. */
static void a_batch_goes_on_where_a_call_left_it(void **state)
{
    struct client *client = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const int count = 20;

    client_initialize(client, "2025-03-26", "{}");
    for (int i = 0; i < count; i++)
        al_str_addf(&text,
                    "%c{\"jsonrpc\":\"2.0\",\"id\":999999999999999999%02d,"
                    "\"method\":\"tools/call\",\"params\":{\"name\":\"gate\"}}",
                    i ? ',' : '[', i);
    al_str_adds(&text, "," PING "]\n" PING "\n");
    send_text(client, &text);
    client_expect(client, PONG); /* the one behind the batch */
    fake_wait_at_gate((unsigned)count);
    for (int i = 0; i < count; i++)
        client_send(client,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                    "\"params\":{\"requestId\":999999999999999999%02d}}",
                    i);
    fake_wait_cancelled((unsigned)count);
    client_expect(client, "[" PONG "]");
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
    do { /* the threads of those come back a moment after their answers */
        client_send(client, CALL, 5, "echo");
        al_auto(al_json_decrefp) json_t *message = client_read(client);

        refused = !json_object_get(message, "result");
    } while (refused);
    atomic_store(&no_threads, false);
}

/* A call that ends comes back to the crew, whatever another one waits for. */
static void a_thread_that_takes_long_to_begin_holds_up_no_other(void **state)
{
    struct client *client = *state;

    wait_for_threads(2);
    client_send(client, CALL, 1, "gate");
    fake_wait_at_gate(1);
    atomic_store(&held, false);
    atomic_store(&hold_threads, true);
    client_send(client, CALL, 2, "gate"); /* needs one more to read on */
    while (!atomic_load(&held))
        (void)sched_yield();
    assert_int_equal(atomic_load(&waiting), 0);
    fake_open_gate(1);
    client_expect_text(client, "1", "through");
    while (atomic_load(&waiting) != 1) /* the thread of that call, for the turn */
        (void)sched_yield();
    atomic_store(&hold_threads, false);
    fake_wait_at_gate(2);
    fake_open_gate(1);
    client_expect_text(client, "2", "through");
}

/* The stack of a thread that reads must do for whatever the parser takes. */
static void a_message_may_be_nested_deeply(void **state)
{
    struct client *client = *state;
    char open[DEEP + 1], close[DEEP + 1];

    memset(open, '[', DEEP);
    memset(close, ']', DEEP);
    open[DEEP] = close[DEEP] = '\0';
    client_send(client,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":%s%s}}", open,
                close);
    client_expect(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    client_initialize(client, "2025-11-25", "{\"elicitation\":{}}");
    client_send(client, CALL, 2, "ask");
    al_auto(al_json_decrefp) json_t *question = client_read(client);
    client_send(client,
                "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\","
                "\"content\":{\"decision\":\"once\",\"x\":%s%s}}}",
                al_json_get_string(question, "id"), open, close);
    client_expect_text(client, "2", "once");
}

/* A server on an input of its own, which ends by itself; what it wrote is the caller's. */
static char *serve_file(int in_fd)
{
    al_auto(al_closep) int out_fd = memfd_create("out", MFD_CLOEXEC);
    const struct al_mcp_options options = {
        .session = fake_session(), .in_fd = in_fd, .out_fd = out_fd, .version = "1.2.3"
    };
    char text[4096] = "";

    assert_int_equal(al_mcp_serve(&options), 0);
    assert_true(pread(out_fd, text, sizeof(text) - 1, 0) >= 0);
    return al_strdup(text);
}

static void an_input_that_cannot_be_waited_for_is_read_to_its_end(void **state)
{
    static const char pings[] = PING "\n" PING;
    al_auto(al_closep) int file = memfd_create("in", MFD_CLOEXEC);
    al_auto(al_closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    al_auto(al_closep) int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_int_equal(al_write_all(file, pings, sizeof(pings) - 1), 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    al_auto(al_freep) char *of_file = serve_file(file);
    al_auto(al_freep) char *of_null = serve_file(null);
    al_auto(al_freep) char *of_folder = serve_file(folder);
    al_auto(al_freep) char *of_none = serve_file(-1);

    assert_string_equal(of_file, PONG "\n" PONG "\n");
    assert_string_equal(of_null, "");
    assert_string_equal(of_folder, "");
    assert_string_equal(of_none, "");
}

#define FLOOD 60000

static void *serve_options(void *payload)
{
    assert_int_equal(al_mcp_serve(payload), 0);
    return NULL;
}

/* Wait until a file that is being read is not read any further. */
static off_t wait_until_it_stands(int file, off_t from)
{
    off_t at = 0, before = -1;

    for (int still = 0; still < 10000; still = at == before && at >= from ? still + 1 : 0) {
        (void)sched_yield();
        before = at;
        at = lseek(file, 0, SEEK_CUR);
    }
    return at;
}

/* The answers are more than the pipe and the queue hold; nobody reads them before that shows.  They
 * are read in small pieces, which takes longer than a client that takes nothing is waited for. */
static void a_file_is_read_no_faster_than_the_output(void **state)
{
    al_auto(al_str_clear) struct al_str pings = AL_STR_INIT;
    al_auto(al_closep) int file = memfd_create("in", MFD_CLOEXEC);
    struct client client = { .input = AL_STR_INIT };
    struct al_mcp_options options;
    pthread_t thread;
    int out[2];

    (void)state;
    for (int id = 0; id < FLOOD; id++)
        al_str_addf(&pings, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n", id);
    assert_int_equal(al_write_all(file, pings.buf, pings.len), 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_true(fcntl(out[1], F_SETPIPE_SZ, 4096) >= 4096);
    client.from_server = out[0];
    options = (struct al_mcp_options){
        .session = fake_session(), .in_fd = file, .out_fd = out[1], .version = "1.2.3"
    };
    assert_int_equal(pthread_create(&thread, NULL, serve_options, &options), 0);
    assert_in_range(wait_until_it_stands(file, (off_t)AL_MESSAGE_WRITER_FULL_BYTES),
                    AL_MESSAGE_WRITER_FULL_BYTES, pings.len - 1);
    for (int id = 0; id < FLOOD; id++) {
        al_auto(al_json_decrefp) json_t *message = client_read(&client);

        assert_int_equal(json_integer_value(json_object_get(message, "id")), id);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    al_str_clear(&client.input);
    close(out[0]);
    close(out[1]);
}

static void *say_number(void *payload)
{
    *(pid_t *)payload = gettid();
    return NULL;
}

/* A sanitizer begins its own with the first there is, which is seen a moment longer than it runs.
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
        SERVER_TEST(threads_of_a_burst_wait_for_another),
        SERVER_TEST(a_call_and_its_cancellation_come_together),
        cmocka_unit_test(the_end_comes_right_behind_a_call),
        SERVER_TEST(a_message_may_be_cut_anywhere),
        SERVER_TEST(a_batch_goes_on_where_a_call_left_it),
        SERVER_TEST(a_call_without_a_thread_to_read_on_is_refused),
        SERVER_TEST(a_thread_that_takes_long_to_begin_holds_up_no_other),
        SERVER_TEST(a_message_may_be_nested_deeply),
        cmocka_unit_test(an_input_that_cannot_be_waited_for_is_read_to_its_end),
        cmocka_unit_test(a_file_is_read_no_faster_than_the_output),
    };

    before_all = count_threads_without_a_crew();
    return cmocka_run_group_tests_name("mcp/crew", tests, NULL, NULL);
}
