// SPDX-License-Identifier: Apache-2.0
/*
 * serve/mcp/http/endpoint.h: what one token may have at work.
 *
 * A message is held while it is served by the lock of its session, which the test has.  So each
 * limit is met exactly, and the messages of the other token are answered meanwhile.
 */
#include "serve/mcp/http/endpoint.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/lock.h"
#include "serve/mcp/http/private.h"
#include "tests/lib/assert.h"
#include "tests/mcp/fake_pipeline.h"
#include "tests/unit/serve/http/http_lab.h"

#define CONNECTIONS 2
#define JOBS        (CONNECTIONS + 4) /* messages that may be at work: see endpoint.c */
#define BODY_BYTES  ((size_t)20000)
#define HEADERS                                                                                    \
    "Host: localhost\r\nContent-Type: application/json\r\n"                                        \
    "Accept: application/json, text/event-stream\r\n"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define HELLO                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-11-25\"}}"
#define MODERN                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"              \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                  \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"},"                   \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}"
#define MODERN_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n"

struct world {
    struct lab lab; /* only its server, for the client */
    struct al_endpoint *endpoint;
    struct al_account *accounts[2]; /* of the paths /1 and /2 */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int requests; /* given to the endpoint */
};

static void on_request(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request)
{
    struct world *world = payload;

    al_endpoint_request(world->endpoint, world->accounts[request->path[1] - '1'], exchange);
    (void)pthread_mutex_lock(&world->lock);
    world->requests++;
    (void)pthread_cond_broadcast(&world->changed);
    (void)pthread_mutex_unlock(&world->lock);
}

static void on_gone(void *payload, struct al_http_exchange *exchange)
{
    al_endpoint_gone(((struct world *)payload)->endpoint, exchange);
}

static void on_end(void *payload, struct al_http_exchange *exchange)
{
    al_endpoint_end(((struct world *)payload)->endpoint, exchange);
}

static const struct al_http_handler handler = { .on_request = on_request,
                                                .on_gone = on_gone,
                                                .on_end = on_end };

static void start(struct world *world)
{
    struct al_http_listener local = { .tls = false };
    const struct al_endpoint_options options = { .version = "1",
                                                 .calls = 4,
                                                 .calls_per_token = 2,
                                                 .sessions_per_token = 2,
                                                 .connections_per_token = CONNECTIONS,
                                                 .event_bytes_per_token = BODY_BYTES,
                                                 .body_bytes_per_token = BODY_BYTES,
                                                 .argument_bytes_per_token = BODY_BYTES,
                                                 .idle_s = 60 };

    *world = (struct world){ .requests = 0 };
    (void)pthread_mutex_init(&world->lock, NULL);
    (void)pthread_cond_init(&world->changed, NULL);
    assert_int_equal(al_endpoint_new(&options, &world->endpoint, NULL), 0);
    for (size_t i = 0; i < COUNT(world->accounts); i++)
        world->accounts[i] = al_account_new(world->endpoint, fake_session(), NULL);
    assert_int_equal(al_http_address_parse("127.0.0.1:0", &local.address, NULL), 0);
    assert_int_equal(al_http_server_new(
                         &(struct al_http_options){
                             .listeners = &local,
                             .listener_count = 1,
                             .handler = &handler,
                             .payload = world,
                         },
                         &world->lab.server, NULL),
                     0);
    assert_int_equal(al_http_server_start(world->lab.server, NULL), 0);
}

static void finish(struct world *world)
{
    al_endpoint_drain(world->endpoint);
    al_http_server_free(world->lab.server);
    for (size_t i = 0; i < COUNT(world->accounts); i++)
        al_account_unref(world->accounts[i]);
    al_endpoint_free(world->endpoint);
    (void)pthread_mutex_destroy(&world->lock);
    (void)pthread_cond_destroy(&world->changed);
    al_str_clear(&lab_head);
}

/* Send a request with a body of `len` bytes at least, and wait until the endpoint has it.  Returns
 * its connection. */
static int begin(struct world *world, const char *request, const char *headers, const char *body,
                 size_t len)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const size_t spaces = len > strlen(body) ? len - strlen(body) : 0;
    int fd = lab_connect(&world->lab, 0), requests = world->requests;

    al_str_addf(&text, "%s HTTP/1.1\r\n" HEADERS "%sContent-Length: %zu\r\n\r\n%s", request,
                headers, strlen(body) + spaces, body);
    for (size_t i = 0; i < spaces; i++)
        al_str_addc(&text, ' ');
    lab_send(fd, text.buf, text.len);
    (void)pthread_mutex_lock(&world->lock);
    while (world->requests == requests)
        (void)pthread_cond_wait(&world->changed, &world->lock);
    (void)pthread_mutex_unlock(&world->lock);
    return fd;
}

/* Wait until no message is at work: an answer is out a moment before its message counts no more.
 * Each message has a reference to its account, as the test, the list and each peer do. */
static bool is_settled(struct al_account *account)
{
    al_hold(&account->endpoint->lock);
    return atomic_load(&account->refs) <= 3 + account->nsessions;
}

static void settle(struct world *world)
{
    for (size_t i = 0; i < COUNT(world->accounts); i++)
        while (!is_settled(world->accounts[i]))
            (void)sched_yield();
}

static int end(int fd)
{
    int status = lab_response(fd, NULL);

    close(fd);
    return status;
}

/* A whole request; gives its status. */
static int ask(struct world *world, const char *request, const char *headers, const char *body)
{
    return end(begin(world, request, headers, body, 0));
}

/* The status is 429, and says when to come again. */
static void refused(int fd)
{
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;

    assert_int_equal(lab_response(fd, &body), 429);
    assert_non_null(strcasestr(lab_head.buf, "\r\nretry-after: 1\r\n"));
    assert_non_null(strstr(body.buf, "too many messages of this token"));
    close(fd);
}

/* Leave without having read anything. */
static void reset(int fd)
{
    const struct linger now = { .l_onoff = 1 };

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    close(fd);
}

/* Begin a session: its header. */
static char *hello(struct world *world, const char *request)
{
    const char *id;

    assert_int_equal(ask(world, request, "", HELLO), 200);
    id = strcasestr(lab_head.buf, "\r\nmcp-session-id: ");
    assert_non_null(id);
    return al_asprintf("Mcp-Session-Id: %.32s\r\n", id + strlen("\r\nmcp-session-id: "));
}

/* The peer of a session of the first token, or of its modern requests: with a reference, and
 * locked.
 */
static struct al_peer *hold_peer(struct world *world, const char *session)
{
    struct al_account *account = world->accounts[0];
    al_auto(al_freep) char *id =
        session ? al_strndup(session + strlen("Mcp-Session-Id: "), 32) : NULL;
    struct al_peer *peer;

    peer = id ? al_account_find_session(account, id) : al_account_modern(account);
    assert_non_null(peer);
    settle(world);
    (void)pthread_mutex_lock(&peer->lock);
    return peer;
}

/* The other token is served. */
static void check_other(struct world *world, const char *session)
{
    assert_int_equal(ask(world, "POST /2", session, PING), 200);
    assert_int_equal(ask(world, "POST /2", MODERN_HEADERS, MODERN), 200);
}

/* The token is served again: the server may not have seen the last answer out. */
static void check_again(struct world *world, const char *headers, const char *body)
{
    int status;

    do {
        status = ask(world, "POST /1", headers, body);
    } while (status == 429);
    assert_int_equal(status, 200);
}

/* Messages of a session that serves one wait, also those whose clients have left.  One too many is
 * 429. */
static void messages_of_a_session(void **state)
{
    struct world world;
    al_auto(al_freep) char *session = NULL;
    al_auto(al_freep) char *other = NULL;
    struct al_peer *peer;
    int fds[JOBS];

    (void)state;
    start(&world);
    session = hello(&world, "POST /1");
    other = hello(&world, "POST /2");
    peer = hold_peer(&world, session);
    for (size_t i = 0; i < JOBS; i++) {
        fds[i] = begin(&world, "POST /1", session, PING, 0);
        if (i % 2)
            reset(fds[i]);
        check_other(&world, other);
    }
    for (size_t i = 0; i < 3; i++)
        refused(begin(&world, "POST /1", session, PING, 0));
    refused(begin(&world, "POST /1", "", HELLO, 0));
    check_other(&world, other);
    (void)pthread_mutex_unlock(&peer->lock);
    for (size_t i = 0; i < JOBS; i += 2)
        assert_int_equal(end(fds[i]), 200);
    check_again(&world, session, PING);
    assert_int_equal(ask(&world, "DELETE /1", session, ""), 204);
    assert_int_equal(ask(&world, "POST /1", session, PING), 404);
    al_peer_unref(peer);
    finish(&world);
}

/* A session that serves a message for long holds up no other session of its token. */
static void sessions_of_a_token(void **state)
{
    struct world world;
    al_auto(al_freep) char *busy = NULL;
    al_auto(al_freep) char *session = NULL;
    struct al_peer *peer;
    int fds[JOBS - 1];

    (void)state;
    start(&world);
    busy = hello(&world, "POST /1");
    session = hello(&world, "POST /1");
    peer = hold_peer(&world, busy);
    for (size_t i = 0; i < COUNT(fds) - 1; i++)
        fds[i] = begin(&world, "POST /1", busy, PING, 0);
    check_again(&world, session, PING);
    check_again(&world, MODERN_HEADERS, MODERN);
    assert_int_equal(ask(&world, "DELETE /1", busy, ""), 204);
    (void)pthread_mutex_unlock(&peer->lock);
    for (size_t i = 0; i < COUNT(fds) - 1; i++)
        assert_int_equal(end(fds[i]), 404);
    al_peer_unref(peer);
    finish(&world);
}

/* Modern requests have no session, and the same limits. */
static void modern_messages(void **state)
{
    struct world world;
    al_auto(al_freep) char *other = NULL;
    struct al_peer *peer;
    int fds[JOBS];

    (void)state;
    start(&world);
    other = hello(&world, "POST /2");
    assert_int_equal(ask(&world, "POST /1", MODERN_HEADERS, MODERN), 200);
    peer = hold_peer(&world, NULL);
    for (size_t i = 0; i < JOBS; i++) {
        fds[i] = begin(&world, "POST /1", MODERN_HEADERS, MODERN, 0);
        check_other(&world, other);
    }
    refused(begin(&world, "POST /1", MODERN_HEADERS, MODERN, 0));
    check_other(&world, other);
    (void)pthread_mutex_unlock(&peer->lock);
    for (size_t i = 0; i < JOBS; i++)
        assert_int_equal(end(fds[i]), 200);
    check_again(&world, MODERN_HEADERS, MODERN);
    al_peer_unref(peer);
    finish(&world);
}

/* Bodies are counted from their last byte until they are served. */
static void bytes_of_bodies(void **state)
{
    struct world world;
    al_auto(al_freep) char *session = NULL;
    al_auto(al_freep) char *other = NULL;
    struct al_peer *peer;
    int half, rest;

    (void)state;
    start(&world);
    session = hello(&world, "POST /1");
    other = hello(&world, "POST /2");
    settle(&world);
    refused(begin(&world, "POST /1", session, PING, BODY_BYTES + 1));
    assert_int_equal(end(begin(&world, "POST /1", session, PING, BODY_BYTES)), 200);
    peer = hold_peer(&world, session);
    half = begin(&world, "POST /1", session, PING, BODY_BYTES / 2);
    refused(begin(&world, "POST /1", session, PING, BODY_BYTES / 2 + 1));
    rest = begin(&world, "POST /1", session, PING, BODY_BYTES / 2);
    refused(begin(&world, "POST /1", session, PING, 0));
    check_other(&world, other);
    (void)pthread_mutex_unlock(&peer->lock);
    assert_int_equal(end(half), 200);
    assert_int_equal(end(rest), 200);
    check_again(&world, session, PING);
    al_peer_unref(peer);
    finish(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_a_session),
        cmocka_unit_test(sessions_of_a_token),
        cmocka_unit_test(modern_messages),
        cmocka_unit_test(bytes_of_bodies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
