// SPDX-License-Identifier: Apache-2.0
#include "tests/mcp/client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/lib/assert.h"

/* Long enough for the slowest machine; a test that gets here has failed. */
#define GIVE_UP_MS 540000

static void *serve(void *payload)
{
    struct client *client = payload;

    client->status = al_mcp_serve(&client->options);
    /* Closes the descriptors as a process does that ends. */
    close(client->options.in_fd);
    if (client->options.out_fd != client->options.in_fd)
        close(client->options.out_fd);
    return NULL;
}

struct client *client_start(const struct al_session *session, bool sockets)
{
    struct client *client = al_calloc(1, sizeof(*client));
    int in[2], out[2];

    (void)signal(SIGPIPE, SIG_IGN);
    if (sockets) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in), 0);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out), 0);
    } else {
        assert_int_equal(pipe2(in, O_CLOEXEC), 0);
        assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    }
    client->options = (struct al_mcp_options){
        .session = session, .in_fd = in[0], .out_fd = out[1], .version = "1.2.3"
    };
    client->to_server = in[1];
    client->from_server = out[0];
    client->input = AL_STR_INIT;
    client->status = 1;
    assert_int_equal(pthread_create(&client->thread, NULL, serve, client), 0);
    return client;
}

void client_send(struct client *client, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&line, fmt, args);
    va_end(args);
    al_str_addc(&line, '\n');
    assert_int_equal(al_write_all(client->to_server, line.buf, line.len), 0);
}

/* Read more; false at the end. */
static bool fill(struct client *client)
{
    struct pollfd ready = { .fd = client->from_server, .events = POLLIN };
    char piece[65536];
    ssize_t n;

    assert_int_equal(poll(&ready, 1, GIVE_UP_MS), 1);
    n = read(client->from_server, piece, sizeof(piece));
    assert_true(n >= 0);
    al_str_add(&client->input, piece, (size_t)n);
    return n > 0;
}

json_t *client_read(struct client *client)
{
    struct al_str *input = &client->input;
    size_t len, rest;
    json_t *message;
    char *end;

    while (!(end = memchr(input->buf, '\n', input->len)))
        assert_true(fill(client));
    len = (size_t)(end - input->buf);
    message = json_loadb(input->buf, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    if (!message)
        print_error("not JSON: %.*s\n", (int)len, input->buf);
    assert_non_null(message);
    rest = input->len - len - 1;
    memmove(input->buf, end + 1, rest);
    al_str_truncate(input, rest);
    return message;
}

/* Equal JSON, or a failure that shows both. */
static void expect_equal(const json_t *got, const char *json)
{
    al_auto(al_json_decrefp) json_t *want =
        json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    assert_non_null(want);
    if (got && json_equal(got, want))
        return;
    if (got)
        al_json_dump(got, false, &text);
    fail_msg("got %s, not %s", text.buf, json);
}

void client_expect(struct client *client, const char *json)
{
    al_auto(al_json_decrefp) json_t *message = client_read(client);

    expect_equal(message, json);
}

void client_expect_text(struct client *client, const char *id, const char *text)
{
    al_auto(al_json_decrefp) json_t *message = client_read(client);
    const json_t *content = json_object_get(json_object_get(message, "result"), "content");
    const char *got = al_json_get_string(json_array_get(content, 0), "text");

    expect_equal(json_object_get(message, "id"), id);
    assert_non_null(got);
    assert_string_equal(got, text);
}

void client_expect_error(struct client *client, const char *id, int code)
{
    al_auto(al_json_decrefp) json_t *message = client_read(client);
    const json_t *error = json_object_get(message, "error");

    assert_int_equal(json_integer_value(json_object_get(error, "code")), code);
    assert_non_null(al_json_get_string(error, "message"));
    if (id)
        expect_equal(json_object_get(message, "id"), id);
    else
        assert_null(json_object_get(message, "id"));
}

void client_initialize(struct client *client, const char *revision, const char *capabilities)
{
    client_send(client,
                "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"method\":\"initialize\",\"params\":"
                "{\"protocolVersion\":\"%s\",\"capabilities\":%s,"
                "\"clientInfo\":{\"name\":\"test\",\"version\":\"0\"}}}",
                revision, capabilities);
    json_decref(client_read(client));
    client_send(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

void client_expect_alive(struct client *client)
{
    client_send(client, "{\"jsonrpc\":\"2.0\",\"id\":\"alive?\",\"method\":\"ping\"}");
    client_expect(client, "{\"jsonrpc\":\"2.0\",\"id\":\"alive?\",\"result\":{}}");
}

static void client_free(struct client *client)
{
    close(client->from_server);
    al_str_clear(&client->input);
    free(client);
}

void client_finish(struct client *client)
{
    close(client->to_server);
    while (fill(client))
        ;
    assert_string_equal(client->input.buf, "");
    assert_int_equal(pthread_join(client->thread, NULL), 0);
    assert_int_equal(client->status, 0);
    client_free(client);
}

void client_wait_readable(struct client *client)
{
    struct pollfd ready = { .fd = client->from_server, .events = POLLIN };

    assert_int_equal(poll(&ready, 1, GIVE_UP_MS), 1);
}

void client_abandon(struct client *client)
{
    /* A socket is shut down in one direction only, so that the client can still read. */
    if (shutdown(client->to_server, SHUT_WR) < 0)
        close(al_take_fd(&client->to_server));
    assert_int_equal(pthread_join(client->thread, NULL), 0);
    al_close(client->to_server);
    assert_int_equal(client->status, 0);
    client_free(client);
}
