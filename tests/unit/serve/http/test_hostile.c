// SPDX-License-Identifier: Apache-2.0
/* serve/http/server.h: requests that servers understand differently are refused, and what follows
 * them on the connection is not served. */
#include "http_lab.h"

#include <unistd.h>

#include "tests/lib/assert.h"

#define HOST     "Host: localhost\r\n"
#define SMUGGLED "GET /echo?smuggled HTTP/1.1\r\n" HOST "\r\n"
#define POST     "POST /echo HTTP/1.1\r\n" HOST
#define GET      "GET /echo HTTP/1.1\r\n" HOST
#define BYTES(s) s, sizeof(s) - 1

struct sample {
    const char *bytes;
    size_t len;
    int status; /* 0: closed without a word */
};

static const struct sample refused[] = {
    /* the length of the body */
    { BYTES(POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), 400 },
    { BYTES(POST "Content-Length: 6\r\ncontent-length: 5\r\n\r\nhello!"), 400 },
    { BYTES(POST "Content-Length: 5, 5\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length: +5\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length: -5\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length: 0x5\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length: 5 5\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length: 5;a\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length:\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length: five\r\n\r\nhello"), 400 },
    { BYTES(POST "Content-Length: 18446744073709551617\r\n\r\nhello"), 413 },
    { BYTES(POST "Content-Length: 99999999999999999999999999\r\n\r\nhello"), 413 },
    { BYTES(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { BYTES(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { BYTES(POST "Transfer-Encoding: identity\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello"), 400 },
    { BYTES(POST "Transfer-Encoding: gzip\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding:\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { BYTES(POST
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { BYTES(POST "Transfer-Encoding: \x0b"
                 "chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
      400 },
    { BYTES(POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Content-Length : 5\r\n\r\nhello"), 400 },
    { BYTES(POST " Content-Length: 5\r\n\r\nhello"), 400 },
    /* chunks */
    { BYTES(POST "Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST
            "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF1\r\nhello\r\n0\r\n\r\n" SMUGGLED),
      413 },
    /* folded lines */
    { BYTES(GET "X: a\r\n b\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\r\n\tb\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\r\n \r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\r\n b\r\nY: c\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET " X: a\r\n\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo HTTP/1.1\r\n X: a\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES(POST "Content-Length:\r\n 5\r\n\r\nhello"), 400 },
    { BYTES(POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(POST "X: a\r\n Content-Length: 5\r\n\r\nhello"), 400 },
    /* LF alone, CR alone */
    { BYTES("GET /echo HTTP/1.1\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo HTTP/1.1\nHost: localhost\n\n" SMUGGLED), 400 },
    { BYTES("GET /echo HTTP/1.1\r\nHost: localhost\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\nY: b\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\r\nY: b\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\r\n\n" SMUGGLED), 400 },
    { BYTES(POST "X: a\nContent-Length: 5\r\n\r\nhello"), 400 },
    { BYTES(GET "X: a\rY: b\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\r\r\n\r\n" SMUGGLED), 400 },
    /* bytes that are no text */
    { BYTES(GET "X: a\0b\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\0b\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\0b\nY: c\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X\0: a\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "\0X: a\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\r\n\0\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\x01\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\x7f\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: a\xff\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: \xc0\xaf\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X: \xed\xa0\x80\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "\xc3\xa4: a\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X(: a\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET ": a\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "X\r\n\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo\0a HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET\0 /echo HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo HTTP/1.1\0\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("G\x01T /echo HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("G@T /echo HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    /* targets */
    { BYTES("GET http://localhost/echo HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET localhost:80 HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("OPTIONS * HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET echo HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /%65cho HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo%00 HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /%2e%2e/echo HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo% HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo?\xff HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo?a\x01 HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo\t HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo#a HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET  HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET  /echo HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo  HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 0 },
    { BYTES("GET /echo a HTTP/1.1\r\n" HOST "\r\n" SMUGGLED), 0 },
    /* versions */
    { BYTES("GET /echo HTTP/1.1 \r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo HTTP/1.0\r\n" HOST "\r\n" SMUGGLED), 505 },
    { BYTES("GET /echo HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n" SMUGGLED), 505 },
    { BYTES("GET /echo HTTP/1.2\r\n" HOST "\r\n" SMUGGLED), 505 },
    { BYTES("GET /echo HTTP/0.9\r\n" HOST "\r\n" SMUGGLED), 505 },
    { BYTES("GET /echo HTTP/2.0\r\n" HOST "\r\n" SMUGGLED), 505 },
    { BYTES("GET /echo http/1.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo HTTP/01.1\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("GET /echo\r\n" HOST "\r\n" SMUGGLED), 400 },
    { BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505 },
    { BYTES("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n" SMUGGLED), 0 },
    /* single-valued headers, and other protocols */
    { BYTES("GET /echo HTTP/1.1\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "Host: evil\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "HOST: localhost\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "Authorization: a\r\nAuthorization: b\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "Origin: a\r\norigin: a\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "Content-Type: a\r\nContent-Type: b\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n" SMUGGLED), 400 },
    { BYTES(GET "Connection: upgrade\r\nUpgrade: h2c, websocket\r\n\r\n" SMUGGLED), 400 },
};

static const struct sample served[] = {
    { BYTES(GET "\r\n"), 200 },
    { BYTES("\r\n" GET "\r\n"), 200 },
    { BYTES(GET "X:\r\n\r\n"), 200 },
    { BYTES(GET "X:a\r\n\r\n"), 200 },
    { BYTES(GET "X: \t a \t \r\n\r\n"), 200 },
    { BYTES(GET "X: a\tb \xc3\xa4 \xf0\x9f\x90\xb1\r\n\r\n"), 200 },
    { BYTES(GET "X: a:b: c\r\n\r\n"), 200 },
    { BYTES(GET "!#$%&'*+-.^_`|~: a\r\n\r\n"), 200 },
    { BYTES(GET "Accept: a\r\nAccept: b\r\nX-A: a\r\nX-A: b\r\nCookie: a=b\r\nCookie: c=d\r\n\r\n"),
      200 },
    { BYTES(GET "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: "
                "AAMAAABk\r\n\r\n"),
      200 },
    { BYTES("GET /echo?%00%ff&&;=?/ HTTP/1.1\r\n" HOST "\r\n"), 200 },
    { BYTES("GET /echo? HTTP/1.1\r\n" HOST "\r\n"), 200 },
    { BYTES(GET "Content-Length: 0\r\n\r\n"), 200 },
    { BYTES(GET "Content-Length: 2\r\n\r\nhi"), 200 },
    { BYTES(POST "Content-Length: 005\r\n\r\nhello"), 200 },
    { BYTES(POST "content-LENGTH:5\r\n\r\nhello"), 200 },
    { BYTES(POST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 200 },
    { BYTES(POST "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00\r\n\r\n"), 200 },
    { BYTES(POST "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"), 200 },
};

static void show(const struct sample *sample, int status)
{
    fprintf(stderr, "status %d instead of %d:\n%.*s\n", status, sample->status, (int)sample->len,
            sample->bytes);
}

/* Whole, and byte by byte: where the library's buffer ends must not matter. */
static void check_refused(struct lab *lab, const struct sample *sample, bool bytewise)
{
    int fd = lab_connect(lab, 0);
    int status;

    for (size_t i = 0; bytewise && i < sample->len; i++)
        lab_send(fd, sample->bytes + i, 1);
    if (!bytewise)
        lab_send(fd, sample->bytes, sample->len);
    status = lab_response(fd, NULL);
    if (status != sample->status)
        show(sample, status);
    assert_int_equal(status, sample->status);
    shutdown(fd, SHUT_WR);
    assert_true(lab_closed(fd));
    close(fd);
}

static void refuses(void **state)
{
    struct lab lab;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    for (size_t i = 0; i < COUNT(refused); i++)
        check_refused(&lab, &refused[i], false);
    assert_string_equal(lab.seen.buf, "");
    lab_stop(&lab);
}

static void refuses_bytewise(void **state)
{
    struct lab lab;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    for (size_t i = 0; i < COUNT(refused); i++)
        check_refused(&lab, &refused[i], true);
    assert_string_equal(lab.seen.buf, "");
    lab_stop(&lab);
}

static void serves(void **state)
{
    struct lab lab;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    for (size_t i = 0; i < COUNT(served); i++) {
        int status = lab_status(&lab, served[i].bytes, served[i].len);

        if (status != 200)
            show(&served[i], status);
        assert_int_equal(status, 200);
    }
    assert_int_equal(lab.requests, COUNT(served));
    lab_stop(&lab);
}

/* Chunks can be misread in ways that the library does not tell; so nothing follows them. */
static void nothing_follows_chunks(void **state)
{
    struct lab lab;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;
    int fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    fd = lab_connect(&lab, 0);
    lab_say(fd, POST "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\r\n\n" SMUGGLED SMUGGLED);
    assert_int_equal(lab_response(fd, &body), 200);
    assert_string_equal(body.buf, "POST /echo -\nhello");
    assert_non_null(strcasestr(lab_head.buf, "\r\nConnection: close\r\n"));
    assert_true(lab_closed(fd));
    close(fd);
    assert_string_equal(lab.seen.buf, "POST /echo\n");
    lab_stop(&lab);
}

/* More of something than the library has memory for. */
static void repeats(const struct lab *lab, const char *head, const char *piece, const char *tail,
                    size_t times)
{
    al_auto(al_str_clear) struct al_str request = AL_STR_INIT;
    int status;

    al_str_adds(&request, head);
    for (size_t i = 0; i < times; i++)
        al_str_adds(&request, piece);
    al_str_adds(&request, tail);
    status = lab_status(lab, request.buf, request.len);
    if (status != 431 && status != 414 && status != 0)
        fail_msg("status %d for many '%s'", status, piece);
}

static void floods_are_refused(void **state)
{
    struct lab lab;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    for (size_t times = 100; times <= 100000; times *= 10) {
        repeats(&lab, GET, "X-Y: a\r\n", "\r\n", times + 1);
        if (times < 10000)
            continue;
        repeats(&lab, "GET /echo?", "&a=b", " HTTP/1.1\r\n" HOST "\r\n", times);
        repeats(&lab, "GET /echo", "/", " HTTP/1.1\r\n" HOST "\r\n", times * 10);
        repeats(&lab, GET "Cookie: ", "a=b; ", "\r\n\r\n", times);
        repeats(&lab, GET "Cookie: ", ";", "\r\n\r\n", times * 10);
        repeats(&lab, "", "G", " /echo HTTP/1.1\r\n" HOST "\r\n", times * 10);
        repeats(&lab, GET "X: a", "\r\n b", "\r\n\r\n", times);
        repeats(&lab, GET "X: ", "a", "\r\n\r\n", times * 10);
        repeats(&lab, GET "", "X", ": a\r\n\r\n", times * 10);
    }
    assert_int_equal(lab_status(&lab, BYTES(GET "\r\n")), 200);
    lab_stop(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_bytewise),
        cmocka_unit_test(serves),
        cmocka_unit_test(nothing_follows_chunks),
        cmocka_unit_test(floods_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
