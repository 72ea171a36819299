// SPDX-License-Identifier: Apache-2.0
/* serve/http/server.h: random bytes and requests with random changes.  Whatever comes, the server
 * goes on, and a client beside is served.  The numbers are the same in each run. */
#include "http_lab.h"

#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/assert.h"

#define HOST   "Host: localhost\r\n"
#define ROUNDS 1500

static const char *const seeds[] = {
    "GET /echo?a=b HTTP/1.1\r\n" HOST "Accept: a\r\nCookie: a=b; c=d\r\n\r\n",
    "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 11\r\nExpect: 100-continue\r\n\r\nhello world",
    "POST /echo HTTP/1.1\r\n" HOST
    "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: a\r\n\r\n",
    "GET /refuse HTTP/1.1\r\n" HOST "Connection: close\r\n\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n",
    "HEAD /echo HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\nOPTIONS /echo HTTP/1.1\r\n" HOST "\r\n",
};

static const char *const pieces[] = {
    "\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    ":",
    "\r\n\r\n",
    "\r\n ",
    "Content-Length: 3\r\n",
    "%00",
    "?&=&",
    "Transfer-Encoding: chunked\r\n",
    "HTTP/1.1",
    "/",
    "0\r\n\r\n",
    "ffffffffffffffff",
    ";",
    "\xff",
};

static unsigned long random_state = 1;

static size_t random_below(size_t limit)
{
    random_state = (random_state * 6364136223846793005UL + 1442695040888963407UL);
    return (random_state >> 33) % limit;
}

static void insert(struct al_str *text, size_t at, const char *bytes, size_t len)
{
    al_auto(al_str_clear) struct al_str tail = AL_STR_INIT;

    al_str_add(&tail, text->buf + at, text->len - at);
    al_str_truncate(text, at);
    al_str_add(text, bytes, len);
    al_str_add(text, tail.buf, tail.len);
}

static void mutate(struct al_str *text)
{
    for (size_t changes = 1 + random_below(5); changes && text->len; changes--) {
        size_t at = random_below(text->len);
        size_t piece = random_below(COUNT(pieces));
        char byte = (char)random_below(256);

        switch (random_below(4)) {
        case 0:
            text->buf[at] = byte;
            break;
        case 1:
            insert(text, at, &byte, 1);
            break;
        case 2:
            insert(text, at, pieces[piece], strlen(pieces[piece]));
            break;
        default:
            al_str_truncate(text, at);
            break;
        }
    }
}

static void make(struct al_str *text)
{
    const char *seed = seeds[random_below(COUNT(seeds))];

    if (random_below(10) == 0) {
        for (size_t len = random_below(2000); len; len--)
            al_str_addc(text, (char)random_below(256));
        return;
    }
    al_str_adds(text, seed);
    mutate(text);
}

static void survives(void **state)
{
    const struct al_http_limits limits = { .request_ms = 2000 };
    struct lab lab;
    int beside;

    (void)state;
    lab_start(&lab, &limits, NULL, 0);
    lab.keeps_nothing = true;
    beside = lab_connect(&lab, 0);
    for (int i = 0; i < ROUNDS; i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        size_t cut;
        int fd = lab_connect(&lab, 0);

        make(&text);
        cut = random_below(text.len + 1);
        lab_send(fd, text.buf, cut);
        lab_send(fd, text.buf + cut, text.len - cut);
        /* some go at once, some read what comes */
        if (random_below(3)) {
            shutdown(fd, SHUT_WR);
            assert_true(lab_closed(fd));
        }
        close(fd);
        if (i % 10)
            continue;
        lab_say(beside, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
        assert_int_equal(lab_response(beside, NULL), 200);
    }
    close(beside);
    lab_stop(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(survives) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
