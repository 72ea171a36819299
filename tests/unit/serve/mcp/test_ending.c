// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/server.h: much output arrives whole and in order, and every way to end is a clean one.
 */
#include "serve/mcp/server.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/writer.h"
#include "serve/mcp/calls.h"
#include "tests/unit/serve/mcp/server_lib.h"

static void the_end_of_input_cancels_what_runs(void **state)
{
    struct client *client = *state;

    for (int id = 1; id <= 16; id++)
        client_send(client, CALL, id, "gate");
    fake_wait_at_gate(16);
    client_finish(client); /* nothing more is said */
    fake_wait_cancelled(16);
}

static void the_last_line_may_end_with_the_input(void **state)
{
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    struct client *client = *state;

    assert_int_equal(al_write_all(client->to_server, ping, sizeof(ping) - 1), 0);
    close(client->to_server);
    client->to_server = -1;
    client_expect(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    client_finish(client);
}

static void a_closed_output_ends_the_server(void **state)
{
    struct client *client = *state;

    client_send(client, CALL, 1, "gate");
    fake_wait_at_gate(1);
    close(client->from_server);
    client->from_server = -1;
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
    fake_wait_cancelled(1); /* though the input is still open */
    client_abandon(client);
}

/* The call is read together with other messages, and the first answer finds the output closed. */
static void a_call_that_begins_after_the_end_is_cancelled(void **state)
{
    struct client *client = *state;
    al_auto(al_str_clear) struct al_str requests = AL_STR_INIT;

    close(client->from_server);
    client->from_server = -1;
    while (requests.len < 12000)
        al_str_adds(&requests, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    al_str_addf(&requests, CALL "\n", 1, "gate");
    assert_int_equal(al_write_all(client->to_server, requests.buf, requests.len), 0);
    fake_wait_cancelled(1);
    client_abandon(client);
}

static void a_big_answer_arrives_whole(void **state)
{
    struct client *client = *state;
    const size_t bytes = 5000000;

    client_send(client,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"big\",\"arguments\":{\"bytes\":%zu}}}",
                bytes);
    al_auto(al_json_decrefp) json_t *message = client_read(client);
    const json_t *content = json_object_get(json_object_get(message, "result"), "content");

    assert_int_equal(json_string_length(json_object_get(json_array_get(content, 0), "text")),
                     bytes);
    client_expect_alive(client);
}

static void an_unread_answer_does_not_keep_the_server(void **state)
{
    struct client *client = *state;

    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                        "\"params\":{\"name\":\"big\",\"arguments\":{\"bytes\":5000000}}}");
    client_wait_readable(client);
    client_abandon(client);
}

#define FLOOD 60000

static void *send_flood(void *payload)
{
    for (int i = 0; i < FLOOD; i++)
        client_send(payload, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i);
    return NULL;
}

/* The answers are more than the pipe and the queue hold, and the client does not read at first. */
static void a_flood_is_answered_in_order(void **state)
{
    struct client *client = *state;
    pthread_t sender;

    assert_int_equal(pthread_create(&sender, NULL, send_flood, client), 0);
    for (int i = 0; i < FLOOD; i++) {
        al_auto(al_json_decrefp) json_t *message = client_read(client);

        assert_int_equal(json_integer_value(json_object_get(message, "id")), i);
    }
    assert_int_equal(pthread_join(sender, NULL), 0);
    client_expect_alive(client);
}

/* As much as the pipe takes at once: the server may have stopped reading for good. */
static void write_without_waiting(int fd, const struct al_str *text)
{
    size_t at = 0;
    ssize_t n = 0;

    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    while (at < text->len && (n = write(fd, text->buf + at, text->len - at)) > 0)
        at += (size_t)n;
    if (n < 0)
        assert_int_equal(errno, EAGAIN);
}

/* Answers of a little more than the output and the queue hold together. */
static void a_client_that_does_not_read_can_still_leave(void **state)
{
    static const size_t bytes = AL_MESSAGE_WRITER_FULL_BYTES + (size_t)96 * 1024;
    struct client *client = *state;
    al_auto(al_str_clear) struct al_str requests = AL_STR_INIT;

    for (size_t answers = 0, id = 10000; answers < bytes; id++) {
        al_str_addf(&requests, "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"ping\"}\n", id);
        answers += strlen("{\"jsonrpc\":\"2.0\",\"id\":10000,\"result\":{}}\n");
    }
    write_without_waiting(client->to_server, &requests);
    client_abandon(client);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ENDING_TEST(the_end_of_input_cancels_what_runs),
        ENDING_TEST(the_last_line_may_end_with_the_input),
        ENDING_TEST(a_closed_output_ends_the_server),
        ENDING_TEST(a_call_that_begins_after_the_end_is_cancelled),
        SERVER_TEST(a_big_answer_arrives_whole),
        SOCKET_TEST(a_big_answer_arrives_whole),
        ENDING_TEST(an_unread_answer_does_not_keep_the_server),
        SERVER_TEST(a_flood_is_answered_in_order),
        SOCKET_TEST(a_flood_is_answered_in_order),
        ENDING_TEST(a_client_that_does_not_read_can_still_leave),
        cmocka_unit_test_setup_teardown(a_client_that_does_not_read_can_still_leave, setup_sockets,
                                        no_teardown),
    };

    return cmocka_run_group_tests_name("mcp/ending", tests, NULL, NULL);
}
