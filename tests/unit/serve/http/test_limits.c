// SPDX-License-Identifier: Apache-2.0
/* serve/http/server.h: each limit below, at and above its number, and what happens to others
 * meanwhile.
 */
#include "http_lab.h"

#include <errno.h>
#include <unistd.h>

#include "tests/lib/assert.h"

#define HOST "Host: localhost\r\n"
#define GET  "GET /echo HTTP/1.1\r\n" HOST

static int ask(int fd)
{
    lab_say(fd, GET "\r\n");
    return lab_response(fd, NULL);
}

static int post(const struct lab *lab, size_t len, bool chunked)
{
    al_auto(al_str_clear) struct al_str request = AL_STR_INIT;

    al_str_adds(&request, "POST /echo HTTP/1.1\r\n" HOST);
    if (chunked)
        al_str_addf(&request, "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n%zx\r\n", len - 1);
    else
        al_str_addf(&request, "Content-Length: %zu\r\n\r\na", len);
    for (size_t i = 1; i < len; i++)
        al_str_addc(&request, 'a');
    if (chunked)
        al_str_adds(&request, "\r\n0\r\n\r\n");
    return lab_status(lab, request.buf, request.len);
}

static void body(void **state)
{
    const struct al_http_limits limits = { .body_bytes = 100000 };
    struct lab lab;
    int fd;

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    for (int chunked = 0; chunked <= 1; chunked++) {
        assert_int_equal(post(&lab, 99999, chunked), 200);
        assert_int_equal(post(&lab, 100000, chunked), 200);
        assert_int_equal(post(&lab, 100001, chunked), 413);
        assert_int_equal(post(&lab, 1000000, chunked), 413);
    }
    assert_int_equal(lab.requests, 4);
    /* nothing of the body is there yet */
    fd = lab_connect(&lab, 0);
    lab_say(fd, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 100001\r\n\r\n");
    assert_int_equal(lab_response(fd, NULL), 413);
    close(fd);
    /* the handler's refusal comes first */
    fd = lab_connect(&lab, 0);
    lab_say(fd, "POST /refuse HTTP/1.1\r\n" HOST "Content-Length: 100001\r\n\r\n");
    assert_int_equal(lab_response(fd, NULL), 401);
    close(fd);
    lab_stop(&lab);
}

static int with_header_bytes(const struct lab *lab, size_t len)
{
    al_auto(al_str_clear) struct al_str request = AL_STR_INIT;

    al_str_adds(&request, GET "X: ");
    while (request.len < len - 4)
        al_str_addc(&request, 'x');
    al_str_adds(&request, "\r\n\r\n");
    assert_int_equal(request.len, len);
    return lab_status(lab, request.buf, request.len);
}

static int with_headers(const struct lab *lab, int count)
{
    al_auto(al_str_clear) struct al_str request = AL_STR_INIT;

    al_str_adds(&request, GET);
    for (int i = 1; i < count; i++)
        al_str_addf(&request, "A%d: b\r\n", i);
    al_str_adds(&request, "\r\n");
    return lab_status(lab, request.buf, request.len);
}

static void headers(void **state)
{
    const size_t sizes[] = { 200, 5000, (size_t)32 * 1024 };
    struct lab lab;

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct al_http_limits limits = { .header_bytes = sizes[i] };

        lab_start(&lab, &limits, NULL, 0);
        assert_int_equal(with_header_bytes(&lab, sizes[i] - 1), 200);
        assert_int_equal(with_header_bytes(&lab, sizes[i]), 200);
        assert_int_equal(with_header_bytes(&lab, sizes[i] + 1), 431);
        lab_stop(&lab);
    }
    lab_start(&lab, NULL, NULL, 0);
    assert_int_equal(with_headers(&lab, 99), 200);
    assert_int_equal(with_headers(&lab, 100), 200);
    assert_int_equal(with_headers(&lab, 101), 431);
    lab_stop(&lab);
}

static int ask_with_key(int fd)
{
    lab_say(fd, "GET /key HTTP/1.1\r\n" HOST "\r\n");
    return lab_response(fd, NULL);
}

/* Those without a key make room for others. */
static void connections(void **state)
{
    const struct al_http_limits limits = { .connections = 3 };
    struct lab lab;
    int fds[3], more, status;

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    for (size_t i = 0; i < COUNT(fds); i++) {
        fds[i] = lab_connect(&lab, 0);
        assert_int_equal(ask_with_key(fds[i]), 200);
    }
    more = lab_connect(&lab, 0);
    assert_int_equal(lab_response(more, NULL), 503);
    assert_true(lab_closed(more));
    close(more);
    for (size_t i = 0; i < COUNT(fds); i++)
        assert_int_equal(ask_with_key(fds[i]), 200);
    /* a place is free as soon as the server has seen the end of a connection */
    close(fds[0]);
    do {
        fds[0] = lab_connect(&lab, 0);
        status = ask_with_key(fds[0]);
        if (status != 200)
            close(fds[0]);
    } while (status != 200);
    for (size_t i = 0; i < COUNT(fds); i++)
        close(fds[i]);
    lab_stop(&lab);
}

static void connections_of_a_key(void **state)
{
    const struct al_http_limits limits = { .connections_of_key = 2 };
    struct lab lab;
    int fds[3];

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    for (size_t i = 0; i < COUNT(fds); i++)
        fds[i] = lab_connect(&lab, 0);
    assert_int_equal(ask_with_key(fds[0]), 200);
    assert_int_equal(ask_with_key(fds[0]), 200);
    assert_int_equal(ask_with_key(fds[1]), 200);
    assert_int_equal(ask_with_key(fds[2]), 429);
    assert_int_equal(ask(fds[2]), 200);
    /* a connection that gave its key back makes room */
    lab_say(fds[0], "GET /free HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(lab_response(fds[0], NULL), 200);
    assert_int_equal(ask_with_key(fds[2]), 200);
    assert_int_equal(ask_with_key(fds[0]), 429);
    for (size_t i = 0; i < COUNT(fds); i++)
        close(fds[i]);
    lab_stop(&lab);
}

/* Send one byte whenever the server still has the connection. */
static void drip(int fd, const char *text)
{
    char c;

    do {
        if (*text && send(fd, text, 1, MSG_NOSIGNAL) == 1)
            text++;
    } while (recv(fd, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

static void slow_requests_are_cut_off(void **state)
{
    static const char *const slow[] = {
        "G",
        "GET /echo HTTP/1.1\r\n",
        GET "X: a",
        GET "X: a\r\n",
        "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n",
        "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhell",
        "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    };
    const struct al_http_limits limits = { .request_ms = 50 };
    struct lab lab;
    int fd, other;

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    other = lab_connect(&lab, 0);
    for (size_t i = 0; i < COUNT(slow); i++) {
        fd = lab_connect(&lab, 0);
        lab_say(fd, slow[i]);
        assert_true(lab_closed(fd));
        close(fd);
        assert_int_equal(ask(other), 200);
    }
    fd = lab_connect(&lab, 0);
    drip(fd, slow[4]);
    close(fd);
    /* the second request of a connection has a time of its own, which an idle one does not use up
     */
    lab_say(other, "GET /echo HTTP/1.1\r\n");
    assert_true(lab_closed(other));
    close(other);
    lab_stop(&lab);
}

static void clients_that_do_not_read_are_cut_off(void **state)
{
    static const char *const requests[] = { "GET /big HTTP/1.1\r\n" HOST "\r\n",
                                            "GET /flood HTTP/1.1\r\n" HOST "\r\n" };
    const struct al_http_limits limits = { .stall_s = 1, .stream_bytes = LAB_BIG_BYTES };
    struct lab lab;
    int fds[COUNT(requests)];

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    for (size_t i = 0; i < COUNT(requests); i++) {
        fds[i] = lab_connect(&lab, 0);
        lab_say(fds[i], requests[i]);
    }
    lab_wait(&lab, &lab.ended, COUNT(requests));
    assert_int_equal(lab.gone, COUNT(requests));
    for (size_t i = 0; i < COUNT(requests); i++)
        close(fds[i]);
    lab_stop(&lab);
}

/* A comment of a stream that says nothing is sent again and again, and never behind its end. */
static void silent_streams_are_kept_alive(void **state)
{
    const struct al_http_limits limits = { .keep_alive_ms = 5 };
    al_auto(al_str_clear) struct al_str seen = AL_STR_INIT;
    struct al_http_exchange *held;
    struct lab lab;
    int fd;
    char c;

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    held = lab_held(&lab);
    al_http_begin_stream(held, 200, NULL, 0);
    assert_true(al_http_send(held, "first;", 6));
    assert_int_equal(lab_response_head(fd, NULL), 200);
    while (!strstr(seen.buf, ":\n\n\r\n3\r\n:\n\n\r\n")) {
        assert_int_equal(recv(fd, &c, 1, 0), 1);
        al_str_addc(&seen, c);
    }
    assert_non_null(strstr(seen.buf, "first;"));
    assert_true(al_http_send(held, "last;", 5));
    al_http_end_stream(held);
    while (!al_ends_with(seen.buf, "\r\n0\r\n\r\n")) {
        assert_int_equal(recv(fd, &c, 1, 0), 1);
        al_str_addc(&seen, c);
    }
    assert_non_null(strstr(seen.buf, "last;"));
    al_http_unref(held);
    close(fd);
    lab_stop(&lab);
}

/* A stream that has nothing to send does not stall, however long that is. */
static void idle_streams_stay(void **state)
{
    const struct al_http_limits limits = { .stall_s = 1, .request_ms = 20 };
    struct lab lab;
    struct al_http_exchange *held;
    int fd, other;

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    held = lab_held(&lab);
    al_http_begin_stream(held, 200, NULL, 0);
    assert_int_equal(lab_response_head(fd, NULL), 200);
    other = lab_connect(&lab, 0);
    assert_true(lab_closed(other)); /* all of the times above have passed */
    close(other);
    assert_true(al_http_send(held, "x", 1));
    al_http_end_stream(held);
    lab_wait(&lab, &lab.ended, 1);
    assert_int_equal(lab.gone, 0);
    al_http_unref(held);
    close(fd);
    lab_stop(&lab);
}

static void idle_connections_are_closed(void **state)
{
    const struct al_http_limits limits = { .stall_s = 1 };
    struct lab lab;
    int fd;

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    fd = lab_connect(&lab, 0);
    assert_true(lab_closed(fd));
    close(fd);
    fd = lab_connect(&lab, 0);
    lab_say(fd, GET "\r\n");
    assert_true(lab_closed(fd));
    close(fd);
    lab_stop(&lab);
}

/* The handler sends on the HTTP thread, so nothing leaves the queue meanwhile. */
static void queues_are_bounded(void **state)
{
    const struct {
        size_t limit;
        int sends;
    } rows[] = { { 1, 1 }, { 999, 1 }, { 1000, 2 }, { 1001, 2 }, { 9999, 10 }, { 10000, 11 } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct al_http_limits limits = { .stream_bytes = rows[i].limit };
        struct al_http_exchange *held;
        al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
        struct lab lab;
        int fd;

        lab_start(&lab, &limits, NULL, 0);
        fd = lab_connect(&lab, 0);
        lab_say(fd, "GET /flood HTTP/1.1\r\n" HOST "\r\n");
        held = lab_held(&lab);
        assert_int_equal(lab.sends, rows[i].sends);
        al_http_end_stream(held);
        assert_int_equal(lab_response(fd, &body), 200);
        assert_int_equal(body.len, 1000 * rows[i].sends);
        al_http_unref(held);
        close(fd);
        lab_stop(&lab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(body),
        cmocka_unit_test(headers),
        cmocka_unit_test(connections),
        cmocka_unit_test(connections_of_a_key),
        cmocka_unit_test(slow_requests_are_cut_off),
        cmocka_unit_test(clients_that_do_not_read_are_cut_off),
        cmocka_unit_test(idle_streams_stay),
        cmocka_unit_test(silent_streams_are_kept_alive),
        cmocka_unit_test(idle_connections_are_closed),
        cmocka_unit_test(queues_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
