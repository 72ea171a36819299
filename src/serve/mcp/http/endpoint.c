// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/http/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/jsonrpc.h"
#include "base/lock.h"
#include "base/protocol_version.h"
#include "base/str.h"
#include "serve/http/server.h"
#include "serve/mcp/http/private.h"
#include "serve/mcp/reply.h"

/* --- What the headers of a request have to say about its body --- */

#define VERSION "mcp-protocol-version"

/* Text between two places of a header, without white space around it. */
struct piece {
    const char *at;
    size_t len;
};

/* The piece up to `end` or the end of the text; *at is moved behind it. */
static struct piece next_piece(const char **at, char end)
{
    const char *begin = *at, *stop = strchr(begin, end);
    size_t len = stop ? (size_t)(stop - begin) : strlen(begin);

    *at = begin + len + (stop != NULL);
    while (len && (*begin == ' ' || *begin == '\t')) {
        begin++;
        len--;
    }
    while (len && (begin[len - 1] == ' ' || begin[len - 1] == '\t'))
        len--;
    return (struct piece){ begin, len };
}

static bool equals(struct piece piece, const char *text)
{
    return piece.len == strlen(text) && !strncasecmp(piece.at, text, piece.len);
}

bool al_rules_is_json(const char *content_type)
{
    return content_type && equals(next_piece(&content_type, ';'), "application/json");
}

/* Whether a media range like "text" followed by "/" and a star covers a type. */
static bool covers(struct piece range, const char *type)
{
    const size_t major = (size_t)(strchr(type, '/') - type) + 1;

    if (equals(range, "*/*") || equals(range, type))
        return true;
    return range.len == major + 1 && range.at[major] == '*' && !strncasecmp(range.at, type, major);
}

/* Whether the parameters of a media range say that it is not wanted: a weight of zero. */
static bool is_refused(const char *parameters, const char *end)
{
    while (parameters < end) {
        struct piece parameter = next_piece(&parameters, ';');

        if (parameter.len >= 3 && !strncasecmp(parameter.at, "q=0", 3) &&
            strspn(parameter.at + 3, ".0") >= parameter.len - 3)
            return true;
    }
    return false;
}

bool al_rules_accepts(const char *accept, const char *type)
{
    while (accept && *accept) {
        struct piece item = next_piece(&accept, ',');
        al_auto(al_freep) char *text = al_strndup(item.at, item.len);
        const char *at = text;

        if (covers(next_piece(&at, ';'), type) && !is_refused(at, text + item.len))
            return true;
    }
    return !accept;
}

/* Whether the version header names the modern revision. */
static bool says_modern(const struct al_http_request *request)
{
    const char *name = al_http_find_header(request, VERSION);
    const struct al_revision *revision = name ? al_revision_find(name) : NULL;

    return revision && revision->era == AL_ERA_MODERN;
}

/* Why the version header of a legacy request cannot be served, as a sentence; NULL: it can. */
static const char *check_version(const struct al_http_request *request)
{
    const char *name = al_http_find_header(request, VERSION);

    if (name && !al_revision_find(name))
        return "the revision in MCP-Protocol-Version is not supported";
    return NULL;
}

/* The member of the params that Mcp-Name repeats; NULL: the method has none. */
static const char *named_member(const char *method)
{
    if (!strcmp(method, "tools/call") || !strcmp(method, "prompts/get"))
        return "name";
    return strcmp(method, "resources/read") ? NULL : "uri";
}

/* The value of a header whose text may be given as `=?base64?TEXT?=`.  False: it is neither that
 * nor printable ASCII. */
static bool decode(const char *header, struct al_str *ret_value)
{
    static const char prefix[] = "=?base64?", suffix[] = "?=";
    const size_t len = strlen(header), around = strlen(prefix) + strlen(suffix);

    if (len >= around && !strncmp(header, prefix, strlen(prefix)) &&
        !strcmp(header + len - strlen(suffix), suffix))
        return al_base64_decode(header + strlen(prefix), len - around, ret_value);
    for (const char *at = header; *at; at++)
        if (*at < ' ' || *at > '~')
            return false;
    al_str_adds(ret_value, header);
    return true;
}

static const char *check_name(const struct al_http_request *request,
                              const struct al_rpc_message *message)
{
    const char *member = named_member(message->method);
    const json_t *value = member ? json_object_get(message->params, member) : NULL;
    const char *header = al_http_find_header(request, "mcp-name");
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;

    if (!member || (!header && !json_is_string(value)))
        return NULL; /* a tools/call without a name is refused for that */
    if (!header)
        return "the header Mcp-Name is missing";
    if (!decode(header, &name))
        return "the header Mcp-Name is neither printable ASCII nor =?base64?...?=";
    if (!json_is_string(value) || name.len != json_string_length(value) ||
        memcmp(name.len ? name.buf : "", json_string_value(value), name.len) != 0)
        return "the header Mcp-Name differs from the name in params";
    return NULL;
}

/* The difference between the headers of a modern request and the message, as a sentence; NULL:
 * none.  `version` is that of the envelope; NULL: the message has none. */
static const char *check_headers(const struct al_http_request *request,
                                 const struct al_rpc_message *message, const char *version)
{
    const char *header_version = al_http_find_header(request, VERSION);
    const char *method = al_http_find_header(request, "mcp-method");

    if (!header_version)
        return "the header MCP-Protocol-Version is missing";
    if (version && strcmp(header_version, version) != 0)
        return "the header MCP-Protocol-Version differs from params._meta";
    if (!method)
        return "the header Mcp-Method is missing";
    if (strcmp(method, message->method) != 0)
        return "the header Mcp-Method differs from the method";
    return check_name(request, message);
}

/* --- A POST --- */

/* Seconds until a client may try again. */
#define RETRY_SESSION_S 60
#define RETRY_ENDING_S  10

/* A POST on its way through this file. */
struct post {
    struct al_task task;
    struct al_endpoint *endpoint;
    struct al_account *account;        /* reference */
    struct al_peer *session;           /* reference; NULL: the request names none that there is */
    struct al_http_exchange *exchange; /* reference */
    struct al_stream *stream;          /* reference */
    const struct al_http_request *request;
    const struct al_rpc_doc *doc;
    const struct al_rpc_message *message; /* the only one of `doc`; NULL: it is a batch */
};

/* The sink of the one answer, with a reference to the stream. */
static struct al_message_sink *sink_of(struct post *post)
{
    return &al_stream_ref(post->stream)->sink;
}

/* `retry_after_s` of 0: it does not help. */
static void refuse_post(struct post *post, unsigned status, int retry_after_s, const char *problem)
{
    al_stream_refuse(post->stream, (struct al_refusal){ status, retry_after_s }, NULL,
                     AL_RPC_INVALID_REQUEST, problem);
}

/* Answer the message with an error and a status that the code alone does not give. */
static void refuse_message(struct post *post, unsigned status, enum al_rpc_code code,
                           const char *problem)
{
    al_stream_refuse(post->stream, (struct al_refusal){ .status = status }, post->message->id, code,
                     problem);
}

static void dispatch_alone(struct post *post, struct al_peer *peer)
{
    const char *problem = NULL;

    al_hold(&peer->lock);
    post->stream->tells_first_id =
        peer->dispatch.revision && peer->dispatch.revision->names_first_event;
    if (!post->message)
        problem = al_dispatch_batch_problem(&peer->dispatch, post->doc);
    if (atomic_load(&peer->ended))
        refuse_post(post, 404, 0, "the session has ended");
    else if (problem)
        refuse_post(post, 400, 0, problem);
    else if (post->message)
        al_dispatch_message(&peer->dispatch, post->message, sink_of(post));
    else
        al_dispatch_batch(&peer->dispatch, post->doc, sink_of(post));
}

/* Serve what a peer has sent, whose reference is taken over. */
static void dispatch(struct post *post, struct al_peer *peer)
{
    post->stream->number = atomic_fetch_add(&peer->nstreams, 1) + 1;
    al_stream_set_peer(post->stream, peer);
    dispatch_alone(post, peer);
    if (atomic_load(&peer->ended)) /* meanwhile, when it could not be */
        al_peer_end(peer);
}

/* The problem with a modern message; AL_RPC_OK: none that is not found out later. */
static enum al_rpc_code check_modern(const struct post *post, const char **ret_problem)
{
    const struct al_rpc_message *message = post->message;
    struct al_envelope envelope = { .version = NULL };
    enum al_rpc_code code = AL_RPC_OK;

    if (message->kind == AL_RPC_RESPONSE)
        return AL_RPC_OK;
    if (message->kind == AL_RPC_REQUEST)
        code = al_envelope_read(message, &envelope, ret_problem);
    if (code == AL_RPC_INVALID_PARAMS)
        return code;
    *ret_problem = check_headers(post->request, message, envelope.version);
    return *ret_problem ? AL_RPC_HEADER_MISMATCH : AL_RPC_OK;
}

static void serve_modern(struct post *post)
{
    const char *problem = NULL;
    enum al_rpc_code code = check_modern(post, &problem);
    struct al_peer *peer;

    if (code != AL_RPC_OK) {
        refuse_message(post, 400, code, problem);
        return;
    }
    peer = al_account_modern(post->account);
    if (peer)
        dispatch(post, peer);
    else
        refuse_post(post, 401, 0, "the token is not valid any more");
}

/* Begin a session.  The one thing that al_dispatch_message() could refuse is refused here, before
 * there is a session. */
static void initialize(struct post *post)
{
    struct al_peer *peer = NULL;

    if (!al_json_get_string(post->message->params, "protocolVersion")) {
        refuse_message(post, 200, AL_RPC_INVALID_PARAMS,
                       "initialize needs protocolVersion, a string");
        return;
    }
    peer = al_account_add_session(post->account);
    if (!peer) {
        refuse_post(post, 429, RETRY_SESSION_S,
                    "too many sessions; end one with DELETE, or use one that is open");
        return;
    }
    post->stream->session_id = peer->id;
    dispatch(post, peer);
}

/* Why a legacy request cannot be served in the session that it names (NULL: there is none), and its
 * status; NULL: it can. */
static const char *session_problem(const struct al_http_request *request,
                                   const struct al_peer *session, unsigned *ret_status)
{
    const char *problem = check_version(request);

    if (!problem && !al_http_find_header(request, "mcp-session-id"))
        problem = "the header Mcp-Session-Id is missing; begin with initialize";
    *ret_status = problem ? 400 : 404;
    return problem || session ? problem : "there is no such session; begin with initialize";
}

/* Serve what is for the session that the request names. */
static void serve_session(struct post *post)
{
    unsigned status;
    const char *problem = session_problem(post->request, post->session, &status);

    if (problem)
        refuse_post(post, status, 0, problem);
    else
        dispatch(post, al_peer_ref(post->session));
}

static void serve_message(struct post *post)
{
    const struct al_rpc_message *message = post->message;
    const bool is_request = message->kind == AL_RPC_REQUEST;
    const bool has_method = is_request || message->kind == AL_RPC_NOTIFICATION;

    post->stream->awaits_answer = is_request;
    if (message->kind == AL_RPC_INVALID)
        al_reply_error(sink_of(post), message->id, AL_RPC_INVALID_REQUEST, message->problem);
    else if (is_request && atomic_load(&post->endpoint->draining))
        refuse_post(post, 503, RETRY_ENDING_S, "the server is ending");
    else if (says_modern(post->request) ||
             (has_method && al_envelope_era(message) == AL_ERA_MODERN))
        serve_modern(post);
    else if (is_request && !strcmp(message->method, "initialize") &&
             !al_http_find_header(post->request, "mcp-session-id"))
        initialize(post);
    else
        serve_session(post);
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

static void serve_body(struct post *post)
{
    al_auto(al_rpc_doc_clear) struct al_rpc_doc doc = AL_RPC_DOC_INIT;
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    const char *problem = NULL;
    enum al_rpc_code code =
        al_rpc_parse(post->request->body, post->request->body_len, &doc, &problem);

    post->doc = &doc;
    if (code != AL_RPC_OK) {
        al_reply_error(sink_of(post), NULL, code, problem);
    } else if (!al_rpc_doc_is_batch(&doc) && al_rpc_doc_next(&doc, &cursor, &message)) {
        post->message = &message;
        serve_message(post);
    } else if (atomic_load(&post->endpoint->draining)) {
        refuse_post(post, 503, RETRY_ENDING_S, "the server is ending");
    } else {
        post->stream->awaits_answer = has_request(&doc);
        serve_session(post);
    }
}

static void free_post(struct post *post)
{
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
    al_dispatch_unsubscribe(&peer->dispatch, NULL, &stream->sink);
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

    serve_body(post);
    if (al_stream_is_gone(post->stream))
        cancel_post(post->endpoint, post->stream);
    al_http_drop_body(post->exchange); /* which is not needed while a call runs */
    al_pool_leave(post->endpoint->pool, task);
    free_post(post);
}

/* Have a POST served, after the messages of the session that came before: the HTTP thread cannot
 * wait for those.  Refused: too many messages of the account wait. */
static void submit(struct al_endpoint *endpoint, struct al_account *account,
                   struct al_http_exchange *exchange)
{
    struct post *post = al_calloc(1, sizeof(*post));
    const char *id;

    post->endpoint = endpoint;
    post->account = al_account_ref(account);
    post->exchange = al_http_ref(exchange);
    post->request = al_http_request(exchange);
    post->stream = al_stream_new(exchange);
    id = al_http_find_header(post->request, "mcp-session-id");
    post->session = id ? al_account_find_session(account, id) : NULL;
    post->task.run = serve;
    post->task.bytes = post->request->body_len;
    if (al_account_submit(account, post->session, &post->task))
        return;
    refuse_post(post, 429, 1,
                "too many messages of this token are being served; wait for their answers, "
                "then send this one again");
    free_post(post);
}

/* The ticker has shallow functions only. */
#define STACK_BYTES ((size_t)128 * 1024)

/* Threads beyond those of the calls, so that answers to questions of calls can always be read. */
#define FREE_THREADS 8

/* The number of looks for unused sessions in the time after which they end. */
#define LOOKS 20

/* The time that cancelled calls may take to end: their children are killed. */
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
    const char *accept = al_http_find_header(request, "accept");

    if (!al_rules_is_json(al_http_find_header(request, "content-type")))
        refuse(exchange, 415, "Content-Type must be application/json");
    else if (!al_rules_accepts(accept, "application/json") ||
             !al_rules_accepts(accept, "text/event-stream"))
        refuse(exchange, 406, "Accept must list application/json and text/event-stream");
    else
        submit(endpoint, account, exchange);
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
    if (!stream || !al_stream_attach(stream, exchange, id ? &event : NULL))
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

static void delete (struct al_account *account, struct al_http_exchange *exchange)
{
    struct al_peer *peer = open_session(account, exchange);

    if (peer && al_account_end_session(account, peer))
        al_http_answer(exchange, 204, NULL, 0, "", 0);
    else if (peer)
        refuse(exchange, 404, "there is no such session");
    al_peer_unref(peer);
}

void al_endpoint_request(struct al_endpoint *endpoint, struct al_account *account,
                         struct al_http_exchange *exchange)
{
    const struct al_http_request *request = al_http_request(exchange);
    const bool is_modern = says_modern(request);

    al_http_set_data(exchange, NULL);
    if (!strcmp(request->method, "POST"))
        post(endpoint, account, exchange);
    else if (is_modern)
        refuse_method(exchange, MODERN_ALLOWED);
    else if (!strcmp(request->method, "GET"))
        get(account, exchange);
    else if (!strcmp(request->method, "DELETE"))
        delete (account, exchange);
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
    const int look_ms = endpoint->limits.idle_s * 1000 / LOOKS;
    eventfd_t count;

    while (!atomic_load(&endpoint->stopped)) {
        const int progress_ms = al_calls_progress(calls);

        al_accounts_end_idle(endpoint);
        (void)poll(&wake, 1, progress_ms >= 0 && progress_ms < look_ms ? progress_ms : look_ms);
        (void)eventfd_read(endpoint->wake_fd, &count);
    }
    return NULL;
}

static void clear(struct al_endpoint *endpoint)
{
    (void)pthread_mutex_destroy(&endpoint->lock);
    al_service_clear(&endpoint->service);
    al_close(endpoint->wake_fd);
    free(endpoint);
}

int al_endpoint_new(const struct al_endpoint_options *options, struct al_endpoint **ret_endpoint,
                    struct al_error *err)
{
    struct al_endpoint *endpoint = al_calloc(1, sizeof(*endpoint));
    int r = al_pool_new(options->calls + FREE_THREADS, &endpoint->pool, err);

    endpoint->limits = *options;
    (void)pthread_mutex_init(&endpoint->lock, NULL);
    endpoint->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r == 0 && endpoint->wake_fd < 0)
        r = al_error_errno(err, errno, "cannot create an event descriptor");
    al_service_init(&endpoint->service, options->version, options->mounts,
                    &(struct al_calls_options){ .max = options->calls,
                                                .wake_fd = endpoint->wake_fd,
                                                .pool = endpoint->pool });
    if (r == 0 && (r = al_thread_start(&endpoint->ticker, STACK_BYTES, tick, endpoint)) != 0)
        r = al_error_errno(err, r, "cannot start a thread");
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
    if (!al_calls_wait_idle(calls, endpoint->limits.drain_s * 1000)) {
        al_calls_close(calls);
        (void)al_calls_wait_idle(calls, CANCEL_MS);
    }
    al_accounts_end(endpoint);
}

void al_endpoint_free(struct al_endpoint *endpoint)
{
    if (!endpoint)
        return;
    al_calls_close(&endpoint->service.calls);
    atomic_store(&endpoint->stopped, true);
    (void)eventfd_write(endpoint->wake_fd, 1);
    (void)pthread_join(endpoint->ticker, NULL);
    al_pool_free(endpoint->pool);
    al_accounts_end(endpoint);
    clear(endpoint);
}
