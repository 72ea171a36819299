// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/server.h: every kind of input is read, cut anywhere, and no faster than the output. */
#include "serve/mcp/server.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/writer.h"
#include "tests/unit/serve/mcp/server_lib.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}"
#define PONG "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}"
#define CANCEL                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}"

/* Nesting just below the limit of the parser. */
#define DEEP  2030

#define FLOOD 60000

static void send_bytes(struct client *client, const char *data, size_t len)
{
    assert_int_equal(al_write_all(client->to_server, data, len), 0);
}

static void send_text(struct client *client, const struct al_str *text)
{
    send_bytes(client, text->buf, text->len);
}

/* Wait until the server has read everything that was sent. */
static void wait_until_read(const struct client *client)
{
    int left = 1;

    while (left) {
        assert_int_equal(ioctl(client->to_server, FIONREAD, &left), 0);
        (void)sched_yield();
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

/* These ids have more than 64 bits, so the line must exist as long as messages of the batch remain.
 */
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

/* The stack of a thread must be large enough for everything that the parser accepts. */
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

/* Serve an input to its end.  Returns what the server wrote; the caller frees it. */
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

static void *serve_options(void *payload)
{
    assert_int_equal(al_mcp_serve(payload), 0);
    return NULL;
}

/* Wait until the server stops reading the file. */
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

/* The answers are more than the pipe and the queue hold, and the client reads them only after the
 * server stopped reading.  It reads in small pieces, which takes longer than the drain timeout. */
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SERVER_TEST(a_message_may_be_cut_anywhere),
        SERVER_TEST(what_is_behind_calls_is_served_before_they_end),
        SOCKET_TEST(what_is_behind_calls_is_served_before_they_end),
        SERVER_TEST(a_call_and_its_cancellation_come_together),
        cmocka_unit_test(the_end_comes_right_behind_a_call),
        SERVER_TEST(a_batch_goes_on_where_a_call_left_it),
        SERVER_TEST(a_message_may_be_nested_deeply),
        cmocka_unit_test(an_input_that_cannot_be_waited_for_is_read_to_its_end),
        cmocka_unit_test(a_file_is_read_no_faster_than_the_output),
    };

    return cmocka_run_group_tests_name("mcp/input", tests, NULL, NULL);
}
