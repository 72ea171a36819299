// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/http/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/lock.h"
#include "serve/http/server.h"
#include "serve/mcp/http/private.h"
#include "serve/mcp/reply.h"

/* Seconds until a client may try again. */
#define RETRY_SESSION_S 60
#define RETRY_ENDING_S  10

/* A POST or DELETE on its way through this file. */
struct post {
    struct al_task task;
    struct al_endpoint *endpoint;
    struct al_account *account;        /* reference */
    struct al_peer *session;           /* reference; NULL: the request names none that there is */
    struct al_http_exchange *exchange; /* reference */
    struct al_stream *stream;          /* reference; NULL: a DELETE */
    const struct al_http_request *request;
};

/* For the one answer, with a reference to the stream. */
static struct al_message_sink *sink_of(struct post *post)
{
    return &al_stream_ref(post->stream)->sink;
}

/* Answer a request with an error and a status that the code alone does not give. */
static void refuse_message(struct post *post, const struct al_rpc_message *message, unsigned status,
                           enum al_rpc_code code, const char *problem)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_add_error(&line, message->id, code, problem);
    al_stream_answer(post->stream, status, &line);
}

/* Whose message it is from here on.  Takes the reference over. */
static void set_peer(struct post *post, struct al_peer *peer)
{
    post->stream->number = al_peer_number_stream(peer);
    al_stream_set_peer(post->stream, peer);
}

/* Caller holds the lock of the peer. */
static bool tells_first_id(const struct al_peer *peer)
{
    return peer->dispatch.revision && peer->dispatch.revision->names_first_event;
}

/* Serve a message of a peer that set_peer() has set. */
static void dispatch(struct post *post, struct al_peer *peer, const struct al_rpc_message *message)
{
    al_hold(&peer->lock);
    post->stream->tells_first_id = tells_first_id(peer);
    if (peer->ended)
        al_stream_refuse(post->stream, 404, 0, "the session has ended");
    else
        al_dispatch_message(&peer->dispatch, message, sink_of(post));
}

/* What is wrong with a modern message; AL_RPC_OK: nothing that is not found out later. */
static enum al_rpc_code check_modern(const struct post *post, const struct al_rpc_message *message,
                                     const char **ret_problem)
{
    struct al_envelope envelope = { .version = NULL };
    enum al_rpc_code code = AL_RPC_OK;

    if (message->kind == AL_RPC_RESPONSE)
        return AL_RPC_OK;
    if (message->kind == AL_RPC_REQUEST)
        code = al_envelope_read(message, &envelope, ret_problem);
    if (code == AL_RPC_INVALID_PARAMS)
        return code;
    *ret_problem = al_rules_check_modern(post->request, message, envelope.version);
    return *ret_problem ? AL_RPC_HEADER_MISMATCH : AL_RPC_OK;
}

static void serve_modern(struct post *post, const struct al_rpc_message *message)
{
    const char *problem = NULL;
    enum al_rpc_code code = check_modern(post, message, &problem);
    struct al_peer *peer;

    if (code != AL_RPC_OK) {
        refuse_message(post, message, 400, code, problem);
        return;
    }
    peer = al_account_modern(post->account);
    if (!peer) {
        al_stream_refuse(post->stream, 401, 0, "the token is not valid any more");
        return;
    }
    al_stream_set_modern(post->stream);
    set_peer(post, peer);
    dispatch(post, peer, message);
}

/* Begin a session.  The one thing that al_dispatch_message() could refuse is refused here, before
 * there is a session. */
static void initialize(struct post *post, const struct al_rpc_message *message)
{
    struct al_peer *peer = NULL;

    if (!al_json_get_string(message->params, "protocolVersion")) {
        refuse_message(post, message, 200, AL_RPC_INVALID_PARAMS,
                       "initialize needs protocolVersion, a string");
        return;
    }
    peer = al_account_add_session(post->account);
    if (!peer) {
        al_stream_refuse(post->stream, 429, RETRY_SESSION_S,
                         "too many sessions; end one with DELETE, or use one that is open");
        return;
    }
    post->stream->session_id = peer->id;
    set_peer(post, peer);
    dispatch(post, peer, message);
}

/* Why a legacy request cannot be served in the session that it names (NULL: there is none), and its
 * status; NULL: it can. */
static const char *session_problem(const struct al_http_request *request,
                                   const struct al_peer *session, unsigned *ret_status)
{
    const char *problem = al_rules_check_legacy(request);

    if (!problem && !al_http_find_header(request, "mcp-session-id"))
        problem = "the header Mcp-Session-Id is missing; begin with initialize";
    *ret_status = problem ? 400 : 404;
    return problem || session ? problem : "there is no such session; begin with initialize";
}

/* The session that the request names, with a reference; NULL: refused. */
static struct al_peer *find_session(struct post *post)
{
    unsigned status;
    const char *problem = session_problem(post->request, post->session, &status);

    if (!problem)
        return al_peer_ref(post->session);
    al_stream_refuse(post->stream, status, 0, problem);
    return NULL;
}

static void serve_legacy(struct post *post, const struct al_rpc_message *message)
{
    const bool begins = message->kind == AL_RPC_REQUEST && !strcmp(message->method, "initialize") &&
                        !al_http_find_header(post->request, "mcp-session-id");
    struct al_peer *peer;

    if (begins) {
        initialize(post, message);
        return;
    }
    peer = find_session(post);
    if (!peer)
        return;
    set_peer(post, peer);
    dispatch(post, peer, message);
}

static void serve_message(struct post *post, const struct al_rpc_message *message)
{
    const bool has_method = message->kind == AL_RPC_REQUEST || message->kind == AL_RPC_NOTIFICATION;

    post->stream->awaits_answer = message->kind == AL_RPC_REQUEST;
    if (message->kind == AL_RPC_INVALID)
        al_reply_error(sink_of(post), message->id, AL_RPC_INVALID_REQUEST, message->problem);
    else if (message->kind == AL_RPC_REQUEST && atomic_load(&post->endpoint->draining))
        al_stream_refuse(post->stream, 503, RETRY_ENDING_S, "the server is ending");
    else if (al_rules_says_modern(post->request) ||
             (has_method && al_envelope_era(message) == AL_ERA_MODERN))
        serve_modern(post, message);
    else
        serve_legacy(post, message);
}

/* Whether a batch has something to be answered. */
static bool has_request(const struct al_rpc_doc *doc)
{
    bool has = false;
    json_t *item;
    size_t i;

    json_array_foreach(doc->root, i, item)
    {
        has |= json_object_get(item, "method") && json_object_get(item, "id");
    }
    return has;
}

static void serve_batch(struct post *post, const struct al_rpc_doc *doc)
{
    struct al_peer *peer = find_session(post);
    const char *problem;

    if (!peer)
        return;
    set_peer(post, peer);
    post->stream->awaits_answer = has_request(doc);
    al_hold(&peer->lock);
    problem =
        peer->ended ? "the session has ended" : al_dispatch_batch_problem(&peer->dispatch, doc);
    if (problem)
        al_stream_refuse(post->stream, peer->ended ? 404 : 400, 0, problem);
    else
        al_dispatch_batch(&peer->dispatch, doc, sink_of(post));
}

static void serve_body(struct post *post)
{
    al_auto(al_rpc_doc_clear) struct al_rpc_doc doc = AL_RPC_DOC_INIT;
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    const char *problem = NULL;
    enum al_rpc_code code =
        al_rpc_parse(post->request->body, post->request->body_len, &doc, &problem);

    if (code != AL_RPC_OK)
        al_reply_error(sink_of(post), NULL, code, problem);
    else if (!al_rpc_doc_is_batch(&doc) && al_rpc_doc_next(&doc, &cursor, &message))
        serve_message(post, &message);
    else if (atomic_load(&post->endpoint->draining))
        al_stream_refuse(post->stream, 503, RETRY_ENDING_S, "the server is ending");
    else
        serve_batch(post, &doc);
}

static void free_post(struct post *post)
{
    if (post->stream)
        al_stream_unref(post->stream);
    al_http_unref(post->exchange);
    al_peer_unref(post->session);
    al_account_unref(post->account);
    free(post);
}

/* Cancel what a modern stream has, whose client has gone. */
static void cancel_post(struct al_endpoint *endpoint, struct al_stream *stream)
{
    struct al_peer *peer = al_stream_get_peer(stream);

    if (!peer)
        return;
    al_calls_cancel_all(&endpoint->service.calls, &peer->dispatch.scope, &stream->sink);
    al_listing_drop_sink(&peer->dispatch.listing, &stream->sink);
    al_peer_unref(peer);
}

/* Answer without a stream. */
static void refuse(struct al_http_exchange *exchange, unsigned status, const char *problem)
{
    static const struct al_http_header json = { "Content-Type", "application/json" };
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_add_error(&line, NULL, AL_RPC_INVALID_REQUEST, problem);
    al_http_answer(exchange, status, &json, 1, line.buf, line.len);
}

static void serve(struct al_task *task)
{
    struct post *post = (struct post *)task;

    if (post->stream) {
        serve_body(post);
        if (al_stream_is_gone(post->stream))
            cancel_post(post->endpoint, post->stream);
        al_http_drop_body(post->exchange); /* which is not needed while a call runs */
    } else if (al_account_end_session(post->account, post->session)) {
        al_http_answer(post->exchange, 204, NULL, 0, "", 0);
    } else {
        refuse(post->exchange, 404, "there is no such session");
    }
    al_pool_leave(post->endpoint->pool, task);
    free_post(post);
}

/* Have a POST or DELETE served, after the messages of the session that came before: the HTTP thread
 * cannot wait for those.  Takes the session's reference over.  False: too many messages of the
 * account wait. */
static bool submit(struct al_endpoint *endpoint, struct al_account *account,
                   struct al_peer *session, struct al_http_exchange *exchange,
                   struct al_stream *stream)
{
    struct post *post = al_calloc(1, sizeof(*post));

    post->endpoint = endpoint;
    post->account = al_account_ref(account);
    post->session = session;
    post->exchange = al_http_ref(exchange);
    post->request = al_http_request(exchange);
    post->stream = stream ? al_stream_ref(stream) : NULL;
    post->task.run = serve;
    post->task.bytes = stream ? post->request->body_len : 0;
    if (al_account_submit(account, session, &post->task))
        return true;
    free_post(post);
    return false;
}

/* The ticker has shallow functions only. */
#define STACK_BYTES ((size_t)128 * 1024)

/* Threads beyond those of the calls, so that answers to questions of calls can always be read. */
#define FREE_THREADS 8

/* How often unused sessions are looked for in the time after which they end. */
#define LOOKS 20

/* How long cancelled calls may take to end: their children are killed. */
#define CANCEL_MS      10000

#define LEGACY_ALLOWED "POST, GET, DELETE"
#define MODERN_ALLOWED "POST"

static void refuse_method(struct al_http_exchange *exchange, const char *allowed)
{
    const struct al_http_header headers[] = { { "Allow", allowed } };

    al_http_answer(exchange, 405, headers, AL_COUNT(headers), "", 0);
}

static void post(struct al_endpoint *endpoint, struct al_account *account,
                 struct al_http_exchange *exchange)
{
    const struct al_http_request *request = al_http_request(exchange);
    const char *accept = al_http_find_header(request, "accept"), *id;
    struct al_stream *stream;

    if (!al_rules_is_json(al_http_find_header(request, "content-type"))) {
        refuse(exchange, 415, "Content-Type must be application/json");
    } else if (!al_rules_accepts(accept, "application/json") ||
               !al_rules_accepts(accept, "text/event-stream")) {
        refuse(exchange, 406, "Accept must list application/json and text/event-stream");
    } else {
        id = al_http_find_header(request, "mcp-session-id");
        stream = al_stream_new(exchange);
        if (!submit(endpoint, account, id ? al_account_find_session(account, id) : NULL, exchange,
                    stream))
            al_stream_refuse(stream, 429, AL_ACCOUNT_RETRY_S, AL_ACCOUNT_BUSY);
        al_stream_unref(stream);
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
static struct al_peer *open_session(struct al_account *account, struct al_http_exchange *exchange)
{
    const struct al_http_request *request = al_http_request(exchange);
    const char *id = al_http_find_header(request, "mcp-session-id");
    struct al_peer *peer = id ? al_account_find_session(account, id) : NULL;
    unsigned status;
    const char *problem = session_problem(request, peer, &status);

    if (!problem)
        return peer;
    refuse(exchange, status, problem);
    al_peer_unref(peer);
    return NULL;
}

static void get(struct al_account *account, struct al_http_exchange *exchange)
{
    const char *accept = al_http_find_header(al_http_request(exchange), "accept");
    struct al_peer *peer;

    if (!al_rules_accepts(accept, "text/event-stream")) {
        refuse(exchange, 406, "Accept must list text/event-stream");
        return;
    }
    peer = open_session(account, exchange);
    if (peer)
        open_stream(peer, exchange);
    al_peer_unref(peer);
}

static void delete (struct al_endpoint *endpoint, struct al_account *account,
                    struct al_http_exchange *exchange)
{
    struct al_peer *peer = open_session(account, exchange);

    if (!peer || submit(endpoint, account, peer, exchange, NULL))
        return;
    al_http_add_header(exchange, "Retry-After", "1");
    refuse(exchange, 429, AL_ACCOUNT_BUSY);
}

void al_endpoint_request(struct al_endpoint *endpoint, struct al_account *account,
                         struct al_http_exchange *exchange)
{
    const struct al_http_request *request = al_http_request(exchange);
    const bool is_modern = al_rules_says_modern(request);

    al_http_set_data(exchange, NULL);
    if (!strcmp(request->method, "POST"))
        post(endpoint, account, exchange);
    else if (is_modern)
        refuse_method(exchange, MODERN_ALLOWED);
    else if (!strcmp(request->method, "GET"))
        get(account, exchange);
    else if (!strcmp(request->method, "DELETE"))
        delete (endpoint, account, exchange);
    else
        refuse_method(exchange, LEGACY_ALLOWED);
}

void al_endpoint_gone(struct al_endpoint *endpoint, struct al_http_exchange *exchange)
{
    struct al_stream *stream = al_http_data(exchange);

    if (stream && al_stream_mark_gone(stream, exchange))
        cancel_post(endpoint, stream);
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

static void *tick(void *payload)
{
    struct al_endpoint *endpoint = payload;
    struct al_calls *calls = &endpoint->service.calls;
    struct pollfd wake = { .fd = endpoint->wake_fd, .events = POLLIN };
    const int look_ms = endpoint->accounts.limits.idle_s * 1000 / LOOKS;
    eventfd_t count;

    while (!atomic_load(&endpoint->stopped)) {
        const int progress_ms = al_calls_progress(calls);

        al_accounts_end_idle(&endpoint->accounts);
        (void)poll(&wake, 1, progress_ms >= 0 && progress_ms < look_ms ? progress_ms : look_ms);
        (void)eventfd_read(endpoint->wake_fd, &count);
    }
    return NULL;
}

static int start_ticker(struct al_endpoint *endpoint, struct al_error *err)
{
    const int r = al_thread_start(&endpoint->ticker, STACK_BYTES, tick, endpoint);

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
