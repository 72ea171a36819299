// SPDX-License-Identifier: Apache-2.0
/* serve/http/server.h: requests, answers and streams, from any thread, until a client or a server
 * goes.
 */
#include "http_lab.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/assert.h"

#define HOST "Host: localhost\r\n"

static void answers(void **state)
{
    struct lab lab;
    int fd;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "POST /echo?a=b&c=%20 HTTP/1.1\r\n" HOST "Accept: a\r\nAccept: b\r\n"
                "Content-Length: 5\r\n\r\nhello");
    assert_int_equal(lab_response(fd, &body), 200);
    assert_string_equal(body.buf, "POST /echo a=b&c=%20\naccept: a, b\nhello");
    lab_say(fd, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    al_str_reset(&body);
    assert_int_equal(lab_response(fd, &body), 200);
    assert_string_equal(body.buf, "GET /echo -\n");
    close(fd);
    lab_stop(&lab);
}

static void answers_later(void **state)
{
    struct lab lab;
    int fd;
    struct al_http_exchange *held;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    for (int i = 1; i <= 3; i++) {
        lab_say(fd, "POST /later HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi");
        held = lab_held(&lab);
        assert_string_equal(al_http_request(held)->body, "hi");
        assert_string_equal(al_http_request(held)->peer, "127.0.0.1");
        al_http_answer(held, 202, NULL, 0, "later", 5);
        al_http_answer(held, 500, NULL, 0, "again", 5);
        al_str_reset(&body);
        assert_int_equal(lab_response(fd, &body), 202);
        assert_string_equal(body.buf, "later");
        lab_wait(&lab, &lab.ended, i);
        al_http_answer(held, 500, NULL, 0, "too late", 8);
        assert_false(al_http_send(held, "x", 1));
        al_http_unref(held);
    }
    assert_int_equal(lab.gone, 0);
    close(fd);
    lab_stop(&lab);
}

static void streams(void **state)
{
    struct lab lab;
    int fd;
    struct al_http_exchange *held;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
    static const struct al_http_header headers[] = { { "Content-Type", "text/event-stream" } };

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    held = lab_held(&lab);
    assert_false(al_http_send(held, "early", 5));
    al_http_begin_stream(held, 200, headers, 1);
    assert_int_equal(lab_response_head(fd, &body), 200);
    assert_non_null(strstr(body.buf, "Content-Type: text/event-stream\r\n"));
    for (int i = 0; i < 26; i++) {
        const char c = (char)('a' + i);
        char bytes[6], expected[16];

        assert_true(al_http_send(held, &c, 1));
        snprintf(expected, sizeof(expected), "1\r\n%c\r\n", c);
        assert_int_equal(recv(fd, bytes, sizeof(bytes), MSG_WAITALL), 6);
        assert_memory_equal(bytes, expected, 6);
    }
    al_http_end_stream(held);
    assert_false(al_http_send(held, "late", 4));
    lab_wait(&lab, &lab.ended, 1);
    al_http_unref(held);
    close(fd);
    lab_stop(&lab);
}

/* A client that goes while its request waits, and one that goes while its stream is idle. */
static void tells_that_a_client_is_gone(void **state)
{
    struct lab lab;
    struct al_http_exchange *held;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
    held = lab_held(&lab);
    close(fd);
    lab_wait(&lab, &lab.gone, 1);
    al_http_answer(held, 200, NULL, 0, NULL, 0);
    lab_wait(&lab, &lab.ended, 1);
    al_http_unref(held);

    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
    held = lab_held(&lab);
    al_http_begin_stream(held, 200, NULL, 0);
    assert_int_equal(lab_response_head(fd, NULL), 200);
    close(fd);
    lab_wait(&lab, &lab.gone, 2);
    lab_wait(&lab, &lab.ended, 2);
    assert_false(al_http_send(held, "x", 1));
    al_http_unref(held);
    lab_stop(&lab);
}

static void resets_are_noticed(void **state)
{
    struct lab lab;
    struct al_http_exchange *held;
    const struct linger now = { .l_onoff = 1 };
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
    held = lab_held(&lab);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close(fd);
    lab_wait(&lab, &lab.gone, 1);
    lab_wait(&lab, &lab.ended, 1); /* without an answer */
    al_http_unref(held);
    lab_stop(&lab);
}

static void half_closed_clients_get_their_answer(void **state)
{
    struct lab lab;
    struct al_http_exchange *held;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    shutdown(fd, SHUT_WR);
    assert_int_equal(lab_response(fd, NULL), 200);
    assert_true(lab_closed(fd));
    close(fd);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
    shutdown(fd, SHUT_WR);
    held = lab_held(&lab);
    lab_wait(&lab, &lab.gone, 1);
    al_http_answer(held, 200, NULL, 0, "yes", 3);
    assert_int_equal(lab_response(fd, &body), 200);
    assert_string_equal(body.buf, "yes");
    assert_true(lab_closed(fd));
    close(fd);
    al_http_unref(held);
    lab_stop(&lab);
}

static void pipelined_requests_are_served_in_order(void **state)
{
    struct lab lab;
    struct al_http_exchange *held;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /first HTTP/1.1\r\n" HOST "\r\n"
                "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\ntwo"
                "GET /echo?three HTTP/1.1\r\n" HOST "\r\n");
    held = lab_held(&lab);
    assert_string_equal(lab.seen.buf, "GET /first\n");
    al_http_answer(held, 200, NULL, 0, "one", 3);
    assert_int_equal(lab_response(fd, &body), 200);
    assert_int_equal(lab_response(fd, &body), 200);
    assert_int_equal(lab_response(fd, &body), 200);
    assert_string_equal(body.buf, "onePOST /echo -\ntwoGET /echo three\n");
    close(fd);
    al_http_unref(held);
    lab_stop(&lab);
}

static void other_methods_are_the_handlers(void **state)
{
    static const char *const methods[] = { "OPTIONS", "DELETE", "PUT", "BREW", "get" };
    struct lab lab;
    al_auto(al_str_clear) struct al_str head = AL_STR_INIT;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    for (size_t i = 0; i < COUNT(methods); i++) {
        al_auto(al_str_clear) struct al_str request = AL_STR_INIT;
        al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
        al_auto(al_str_clear) struct al_str expected = AL_STR_INIT;

        al_str_addf(&request, "%s /echo HTTP/1.1\r\n" HOST "\r\n", methods[i]);
        al_str_addf(&expected, "%s /echo -\n", methods[i]);
        lab_say(fd, request.buf);
        assert_int_equal(lab_response(fd, &body), 200);
        assert_string_equal(body.buf, expected.buf);
    }
    lab_say(fd, "HEAD /echo HTTP/1.1\r\n" HOST "\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(lab_response_head(fd, &head), 200);
    assert_non_null(strstr(head.buf, "Content-Length: 13\r\n"));
    assert_int_equal(lab_response(fd, NULL), 200);
    close(fd);
    lab_stop(&lab);
}

static void refusals_come_before_the_body(void **state)
{
    struct lab lab;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "POST /refuse HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n");
    assert_int_equal(lab_response(fd, NULL), 401);
    assert_non_null(strstr(lab_head.buf, "WWW-Authenticate: Bearer\r\n"));
    close(fd);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "POST /slow HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n");
    assert_int_equal(lab_response(fd, NULL), 401);
    close(fd);
    fd = lab_connect(&lab, 0);
    lab_say(fd,
            "POST /refuse HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n");
    assert_int_equal(lab_response(fd, NULL), 401);
    close(fd);
    /* without a body the connection stays */
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /refuse HTTP/1.1\r\n" HOST "\r\nGET /slow HTTP/1.1\r\n" HOST
                "\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(lab_response(fd, NULL), 401);
    assert_int_equal(lab_response(fd, NULL), 401);
    assert_int_equal(lab_response(fd, NULL), 200);
    close(fd);
    assert_string_equal(lab.seen.buf, "GET /echo\n");
    lab_stop(&lab);
}

/* A client that is still sending when it is refused reads why. */
static void refused_clients_read_why(void **state)
{
    struct lab lab;
    char *body = calloc(1, 1024 * 1024);
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "POST /refuse HTTP/1.1\r\n" HOST "Content-Length: 1048576\r\n\r\n");
    lab_send(fd, body, 1024 * 1024);
    assert_int_equal(lab_response(fd, NULL), 401);
    close(fd);
    free(body);
    lab_stop(&lab);
}

/* The number of the server's descriptors of a client's connection. */
static int server_ends(int client)
{
    struct sockaddr_in mine, other;
    socklen_t len = sizeof(mine);
    int count = 0;

    assert_int_equal(getsockname(client, (struct sockaddr *)&mine, &len), 0);
    for (int fd = 3; fd < 100; fd++) {
        len = sizeof(other);
        count += getpeername(fd, (struct sockaddr *)&other, &len) == 0 &&
                 other.sin_family == AF_INET && other.sin_port == mine.sin_port;
    }
    return count;
}

/* A child with copies of all descriptors, which does nothing; it ends with this process. */
static pid_t start_copy(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            (void)pause();
    }
    assert_true(pid > 0);
    return pid;
}

/* A child that has not yet called exec(2) has copies of all descriptors.  What epoll(7) then tells
 * of a connection that was given up is of no concern. */
static void copies_of_a_socket_do_no_harm(void **state)
{
    struct lab lab;
    pid_t copy;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(lab_response(fd, NULL), 200);
    copy = start_copy(); /* no thread of this process has a hand in this one's copies */
    lab_say(fd, "POST /refuse HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n");
    assert_int_equal(lab_response(fd, NULL), 401);
    assert_true(lab_closed(fd)); /* it lingers */
    while (server_ends(fd) != 0) /* it lingers no more */
        ;
    for (int i = 0; i < 10; i++) {
        int other = lab_connect(&lab, 0);

        lab_say(fd, "more");
        lab_say(other, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
        assert_int_equal(lab_response(other, NULL), 200);
        close(other);
    }
    assert_int_equal(kill(copy, SIGKILL), 0);
    assert_int_equal(waitpid(copy, NULL, 0), copy);
    close(fd);
    lab_stop(&lab);
}

static void continues(void **state)
{
    struct lab lab;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_int_equal(lab_response(fd, NULL), 100);
    lab_say(fd, "ok");
    assert_int_equal(lab_response(fd, &body), 200);
    assert_string_equal(body.buf, "POST /echo -\nok");
    close(fd);
    lab_stop(&lab);
}

static void large_answers_arrive_whole(void **state)
{
    struct lab lab;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "GET /big HTTP/1.1\r\n" HOST "\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(lab_response(fd, &body), 200);
    assert_int_equal(body.len, LAB_BIG_BYTES);
    assert_int_equal(strspn(body.buf, "b"), LAB_BIG_BYTES);
    assert_int_equal(lab_response(fd, NULL), 200);
    close(fd);
    lab_stop(&lab);
}

static void exchanges_outlive_their_server(void **state)
{
    struct lab lab;
    struct al_http_exchange *held;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, "POST /wait HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi");
    held = lab_held(&lab);
    lab_stop(&lab);
    assert_true(lab_closed(fd));
    assert_string_equal(al_http_request(held)->body, "hi");
    assert_string_equal(al_http_find_header(al_http_request(held), "HOST"), "localhost");
    al_http_answer(held, 200, NULL, 0, NULL, 0);
    al_http_begin_stream(held, 200, NULL, 0);
    assert_false(al_http_send(held, "x", 1));
    al_http_abort(held);
    al_http_unref(held);
    close(fd);
}

static void aborts(void **state)
{
    struct lab lab;
    struct al_http_exchange *held;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    for (int i = 1; i <= 2; i++) {
        fd = lab_connect(&lab, 0);
        lab_say(fd, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
        held = lab_held(&lab);
        if (i == 2) {
            al_http_begin_stream(held, 200, NULL, 0);
            assert_int_equal(lab_response_head(fd, NULL), 200);
        }
        al_http_abort(held);
        assert_true(lab_closed(fd));
        lab_wait(&lab, &lab.ended, i);
        al_http_unref(held);
        close(fd);
    }
    lab_stop(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(answers_later),
        cmocka_unit_test(streams),
        cmocka_unit_test(tells_that_a_client_is_gone),
        cmocka_unit_test(resets_are_noticed),
        cmocka_unit_test(half_closed_clients_get_their_answer),
        cmocka_unit_test(pipelined_requests_are_served_in_order),
        cmocka_unit_test(other_methods_are_the_handlers),
        cmocka_unit_test(refusals_come_before_the_body),
        cmocka_unit_test(refused_clients_read_why),
        cmocka_unit_test(copies_of_a_socket_do_no_harm),
        cmocka_unit_test(continues),
        cmocka_unit_test(large_answers_arrive_whole),
        cmocka_unit_test(exchanges_outlive_their_server),
        cmocka_unit_test(aborts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
