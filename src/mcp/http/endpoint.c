// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "http/server.h"
#include "mcp/http/endpoint_state.h"
#include "mcp/http/post.h"
#include "mcp/http/rules.h"
#include "mcp/service.h"
#include "util/clock.h"
#include "util/fs.h"

/* The ticker has shallow functions only. */
#define STACK_BYTES ((size_t)128 * 1024)

/* Threads beyond those of the calls, so that answers to questions of calls can always be read. */
#define FREE_THREADS 8

/* How long cancelled calls may take to end: their children are killed. */
#define CANCEL_MS      10000

#define LEGACY_ALLOWED "POST, GET, DELETE"
#define MODERN_ALLOWED "POST"

static void refuse_method(struct al_http_exchange *exchange, const char *allowed)
{
    const struct al_http_header headers[] = { { "Allow", allowed } };

    al_http_answer(exchange, 405, headers, AL_COUNT(headers), "", 0);
}

/* Answer without a stream. */
static void refuse(struct al_http_exchange *exchange, unsigned status, const char *problem)
{
    static const struct al_http_header json = { "Content-Type", "application/json" };
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_add_error(&line, NULL, AL_RPC_INVALID_REQUEST, problem);
    al_http_answer(exchange, status, &json, 1, line.buf, line.len);
}

static void post(struct al_endpoint *endpoint, struct al_principal *principal,
                 struct al_http_exchange *exchange)
{
    const struct al_http_request *request = al_http_request(exchange);
    const char *accept = al_http_find_header(request, "accept");
    struct al_account *account;
    struct al_stream *stream;

    if (!al_rules_is_json(al_http_find_header(request, "content-type"))) {
        refuse(exchange, 415, "Content-Type must be application/json");
    } else if (!al_rules_accepts(accept, "application/json") ||
               !al_rules_accepts(accept, "text/event-stream")) {
        refuse(exchange, 406, "Accept must list application/json and text/event-stream");
    } else if (!(account = al_accounts_open(&endpoint->accounts, principal))) {
        refuse(exchange, 401, "the token is not valid any more");
    } else {
        stream = al_stream_new(exchange);
        al_post_submit(endpoint, account, exchange, stream);
        al_stream_unref(stream);
        al_account_unref(account);
    }
}

/* Attach a connection to a stream of the session. */
static void open_stream(struct al_peer *peer, struct al_http_exchange *exchange)
{
    const char *id = al_http_find_header(al_http_request(exchange), "last-event-id");
    unsigned long number = 0, event = 0;
    struct al_stream *stream;

    if (id && !al_event_read_id(id, &number, &event)) {
        refuse(exchange, 400, "Last-Event-ID names no event of this session");
        return;
    }
    stream = al_peer_find_stream(peer, number);
    if (stream && !id)
        al_stream_attach_rest(stream, exchange);
    else if (!stream || !al_stream_attach(stream, exchange, event))
        refuse(exchange, 400, "the events behind Last-Event-ID are not kept");
    if (stream)
        al_stream_unref(stream);
}

/* Find the session that a GET or DELETE is about, with a reference.  NULL: it was refused. */
static struct al_peer *open_session(struct al_endpoint *endpoint, struct al_principal *principal,
                                    struct al_http_exchange *exchange)
{
    const struct al_http_request *request = al_http_request(exchange);
    const char *problem = al_rules_check_legacy(request);
    const char *id = al_http_find_header(request, "mcp-session-id");
    struct al_account *account;
    struct al_peer *peer = NULL;

    if (!problem && !id)
        problem = "the header Mcp-Session-Id is missing";
    if (problem) {
        refuse(exchange, 400, problem);
        return NULL;
    }
    account = al_accounts_find(&endpoint->accounts, principal);
    if (account) {
        peer = al_account_find_session(account, id);
        al_account_unref(account);
    }
    if (!peer)
        refuse(exchange, 404, "there is no such session");
    return peer;
}

static void get(struct al_endpoint *endpoint, struct al_principal *principal,
                struct al_http_exchange *exchange)
{
    const char *accept = al_http_find_header(al_http_request(exchange), "accept");
    struct al_peer *peer;

    if (!al_rules_accepts(accept, "text/event-stream")) {
        refuse(exchange, 406, "Accept must list text/event-stream");
        return;
    }
    peer = open_session(endpoint, principal, exchange);
    if (peer)
        open_stream(peer, exchange);
    al_peer_unref(peer);
}

/* A DELETE on its way to the thread that serves it. */
struct deletion {
    struct al_task task;
    struct al_endpoint *endpoint;
    struct al_peer *peer;              /* reference */
    struct al_http_exchange *exchange; /* reference */
};

static void free_deletion(struct deletion *deletion)
{
    al_peer_unref(deletion->peer);
    al_http_unref(deletion->exchange);
    free(deletion);
}

static void run_deletion(struct al_task *task)
{
    struct deletion *deletion = (struct deletion *)task;

    if (al_account_end_session(deletion->peer->account, deletion->peer))
        al_http_answer(deletion->exchange, 204, NULL, 0, "", 0);
    else
        refuse(deletion->exchange, 404, "there is no such session");
    al_pool_leave(deletion->endpoint->pool, task);
    free_deletion(deletion);
}

/* A session ends after the messages that came before, for which the HTTP thread cannot wait. */
static void delete (struct al_endpoint *endpoint, struct al_principal *principal,
                    struct al_http_exchange *exchange)
{
    struct al_peer *peer = open_session(endpoint, principal, exchange);
    struct deletion *deletion;

    if (!peer)
        return;
    deletion = al_calloc(1, sizeof(*deletion));
    deletion->task.run = run_deletion;
    deletion->endpoint = endpoint;
    deletion->peer = peer;
    deletion->exchange = al_http_ref(exchange);
    if (al_account_submit(peer->account, peer, &deletion->task))
        return;
    al_http_add_header(exchange, "Retry-After", "1");
    refuse(exchange, 429, AL_ACCOUNT_BUSY);
    free_deletion(deletion);
}

void al_endpoint_request(struct al_endpoint *endpoint, struct al_principal *principal,
                         struct al_http_exchange *exchange)
{
    const struct al_http_request *request = al_http_request(exchange);
    const bool is_modern = al_rules_says_modern(request);

    al_http_set_data(exchange, NULL);
    if (!strcmp(request->method, "POST"))
        post(endpoint, principal, exchange);
    else if (is_modern)
        refuse_method(exchange, MODERN_ALLOWED);
    else if (!strcmp(request->method, "GET"))
        get(endpoint, principal, exchange);
    else if (!strcmp(request->method, "DELETE"))
        delete (endpoint, principal, exchange);
    else
        refuse_method(exchange, LEGACY_ALLOWED);
}

void al_endpoint_gone(struct al_endpoint *endpoint, struct al_http_exchange *exchange)
{
    struct al_stream *stream = al_http_data(exchange);

    if (stream && al_stream_mark_gone(stream, exchange))
        al_post_cancel(endpoint, stream);
}

void al_endpoint_end(struct al_endpoint *endpoint, struct al_http_exchange *exchange)
{
    struct al_stream *stream = al_http_data(exchange);

    if (!stream)
        return;
    al_endpoint_gone(endpoint, exchange); /* if on_gone did not come before */
    al_http_set_data(exchange, NULL);
    al_stream_detach(stream, exchange);
}

void al_endpoint_revoke(struct al_endpoint *endpoint, struct al_principal *principal)
{
    al_accounts_revoke(&endpoint->accounts, principal);
}

/* The sooner of two times; -1: never. */
static int sooner(int a_ms, int b_ms)
{
    if (a_ms < 0 || (b_ms >= 0 && b_ms < a_ms))
        return b_ms;
    return a_ms;
}

static void *tick(void *payload)
{
    struct al_endpoint *endpoint = payload;
    struct al_calls *calls = &endpoint->service.calls;
    struct pollfd wake = { .fd = endpoint->wake_fd, .events = POLLIN };
    eventfd_t count;

    while (!atomic_load(&endpoint->stopped)) {
        int progress_ms = al_calls_progress(calls);
        int idle_ms = al_accounts_end_idle(&endpoint->accounts, al_clock_ms());

        (void)poll(&wake, 1, sooner(progress_ms, idle_ms));
        (void)eventfd_read(endpoint->wake_fd, &count);
    }
    return NULL;
}

static int start_ticker(struct al_endpoint *endpoint, struct al_error *err)
{
    pthread_attr_t attr;
    int r;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    r = pthread_create(&endpoint->ticker, &attr, tick, endpoint);
    (void)pthread_attr_destroy(&attr);
    return r ? al_error_errno(err, r, "cannot start a thread") : 0;
}

static void stop_ticker(struct al_endpoint *endpoint)
{
    atomic_store(&endpoint->stopped, true);
    (void)eventfd_write(endpoint->wake_fd, 1);
    (void)pthread_join(endpoint->ticker, NULL);
}

static void clear(struct al_endpoint *endpoint)
{
    al_accounts_clear(&endpoint->accounts);
    al_service_clear(&endpoint->service);
    al_close(endpoint->wake_fd);
    free(endpoint);
}

int al_endpoint_new(const struct al_endpoint_options *options, struct al_endpoint **ret_endpoint,
                    struct al_error *err)
{
    struct al_endpoint *endpoint = al_calloc(1, sizeof(*endpoint));
    int r = al_pool_new(options->calls + FREE_THREADS, &endpoint->pool, err);

    endpoint->drain_ms = options->drain_s * 1000;
    endpoint->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r == 0 && endpoint->wake_fd < 0)
        r = al_error_errno(err, errno, "cannot create an event descriptor");
    al_service_init(&endpoint->service, options->version, options->mounts,
                    &(struct al_calls_options){ .ready = options->ready,
                                                .max = options->calls,
                                                .wake_fd = endpoint->wake_fd,
                                                .pool = endpoint->pool });
    al_accounts_init(&endpoint->accounts, &endpoint->service, options);
    endpoint->accounts.wake_fd = endpoint->wake_fd;
    if (r == 0)
        r = start_ticker(endpoint, err);
    if (r < 0) {
        al_pool_free(endpoint->pool);
        clear(endpoint);
        return r;
    }
    *ret_endpoint = endpoint;
    return 0;
}

size_t al_endpoint_count_calls(struct al_endpoint *endpoint)
{
    return al_calls_count(&endpoint->service.calls);
}

void al_endpoint_drain(struct al_endpoint *endpoint)
{
    struct al_calls *calls = &endpoint->service.calls;

    atomic_store(&endpoint->draining, true);
    if (!al_calls_wait_idle(calls, endpoint->drain_ms)) {
        al_calls_close(calls);
        (void)al_calls_wait_idle(calls, CANCEL_MS);
    }
    al_accounts_end(&endpoint->accounts);
}

void al_endpoint_free(struct al_endpoint *endpoint)
{
    if (!endpoint)
        return;
    al_calls_close(&endpoint->service.calls);
    stop_ticker(endpoint);
    al_pool_free(endpoint->pool);
    al_accounts_end(&endpoint->accounts);
    clear(endpoint);
}
