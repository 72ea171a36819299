// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/post.h"

#include <stdlib.h>
#include <string.h>

#include "http/server.h"
#include "mcp/http/endpoint_state.h"
#include "mcp/http/rules.h"
#include "mcp/http/stream.h"
#include "mcp/reply.h"
#include "mcp/service.h"

/* Seconds until a client may try again. */
#define RETRY_SESSION_S 60
#define RETRY_ENDING_S  10

/* A batch is short to send, and its answers are not: 90,000 times the list of tools in 4 MiB. */
#define BATCH_MESSAGES     1000
#define BATCH_ANSWER_BYTES ((size_t)4 * 1024 * 1024)

/* A POST on its way through this file. */
struct post {
    struct al_job job;
    struct al_endpoint *endpoint;
    struct al_principal *principal;    /* reference */
    struct al_http_exchange *exchange; /* reference */
    struct al_stream *stream;          /* reference */
    const struct al_http_request *request;
    struct al_account *account; /* reference, while it is served */
    struct al_inflight *call;   /* to run on this thread; NULL: none */
};

/* A call that another thread is to run. */
struct call_job {
    struct al_job job;
    struct al_endpoint *endpoint;
    struct al_inflight *call; /* NULL: the next queued one */
};

static void run_call(struct al_endpoint *endpoint, struct al_inflight *call)
{
    struct al_calls *calls = &endpoint->service.calls;

    if (call && !al_calls_admit(call))
        call = NULL;
    for (; call; call = al_calls_dequeue(calls))
        al_calls_run(call);
}

static void run_call_job(struct al_job *job)
{
    struct call_job *work = (struct call_job *)job;
    struct al_calls *calls = &work->endpoint->service.calls;

    if (work->call)
        run_call(work->endpoint, work->call);
    for (struct al_inflight *call; (call = al_calls_dequeue(calls));)
        al_calls_run(call);
    free(work);
}

static void submit_call(struct al_endpoint *endpoint, struct al_inflight *call)
{
    struct call_job *work = al_calloc(1, sizeof(*work));

    work->job.run = run_call_job;
    work->endpoint = endpoint;
    work->call = call;
    (void)al_job_pool_submit(endpoint->pool, &work->job); /* which has no owner */
}

void al_post_submit_queued(struct al_endpoint *endpoint)
{
    submit_call(endpoint, NULL);
}

/* A call of the message: the first one runs on this thread. */
static void add_call(struct post *post, struct al_inflight *call)
{
    if (call && post->call)
        submit_call(post->endpoint, call);
    else if (call)
        post->call = call;
}

static struct al_reply reply_of(struct post *post)
{
    return (struct al_reply){ .sink = &al_stream_ref(post->stream)->sink };
}

/* Answer a request with an error and a status that the code alone does not give. */
static void refuse(struct post *post, const struct al_rpc_message *message, unsigned status,
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
    struct al_inflight *call = NULL;
    bool ended;

    (void)pthread_mutex_lock(&peer->lock);
    ended = peer->ended;
    post->stream->tells_first_id = tells_first_id(peer);
    if (!ended)
        call = al_dispatch_message(&peer->dispatch, message, reply_of(post));
    (void)pthread_mutex_unlock(&peer->lock);
    if (ended)
        al_stream_refuse(post->stream, 404, 0, "the session has ended");
    add_call(post, call);
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
        refuse(post, message, 400, code, problem);
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
        refuse(post, message, 200, AL_RPC_INVALID_PARAMS,
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

/* The session that the request names, with a reference; NULL: refused. */
static struct al_peer *find_session(struct post *post)
{
    const char *id = al_http_find_header(post->request, "mcp-session-id");
    const char *problem = al_rules_check_legacy(post->request);
    struct al_peer *peer = NULL;

    if (!problem && !id)
        problem = "the header Mcp-Session-Id is missing; begin with initialize";
    if (problem) {
        al_stream_refuse(post->stream, 400, 0, problem);
        return NULL;
    }
    peer = al_account_find_session(post->account, id);
    if (!peer)
        al_stream_refuse(post->stream, 404, 0, "there is no such session; begin with initialize");
    return peer;
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
        al_reply_error(reply_of(post), message->id, AL_RPC_INVALID_REQUEST, message->problem);
    else if (message->kind == AL_RPC_REQUEST && atomic_load(&post->endpoint->draining))
        al_stream_refuse(post->stream, 503, RETRY_ENDING_S, "the server is ending");
    else if (al_rules_says_modern(post->request) ||
             (has_method && al_envelope_era(message) == AL_ERA_MODERN))
        serve_modern(post, message);
    else
        serve_legacy(post, message);
}

/* Serve one message of a batch.  A modern request has headers of its own, so it comes alone. */
static void serve_item(struct post *post, struct al_peer *peer,
                       const struct al_rpc_message *message, struct al_reply reply)
{
    const bool has_method = message->kind == AL_RPC_REQUEST || message->kind == AL_RPC_NOTIFICATION;

    if (message->kind == AL_RPC_REQUEST)
        post->stream->awaits_answer = true;
    if (has_method && al_envelope_era(message) == AL_ERA_MODERN)
        al_reply_error(reply, message->id, AL_RPC_INVALID_REQUEST,
                       "a request of revision 2026-07-28 is not part of a batch");
    else
        add_call(post, al_dispatch_message(&peer->dispatch, message, reply));
}

/* Caller holds the lock of the peer. */
static void serve_items(struct post *post, struct al_peer *peer, const struct al_rpc_doc *doc)
{
    al_auto(al_rpc_message_clear) struct al_rpc_message message = AL_RPC_MESSAGE_INIT;
    struct al_rpc_cursor cursor = AL_RPC_CURSOR_INIT;
    struct al_batch *batch = al_batch_new(&al_stream_ref(post->stream)->sink);

    while (al_rpc_doc_next(doc, &cursor, &message)) {
        if (message.kind == AL_RPC_REQUEST && al_batch_bytes(batch) >= BATCH_ANSWER_BYTES)
            al_reply_busy(al_batch_expect(batch), message.id,
                          "the answers to this batch are too large; send the other requests again");
        else
            serve_item(post, peer, &message, al_batch_expect(batch));
    }
    al_batch_close(batch);
}

/* What is wrong with a batch; NULL: nothing.  Caller holds the lock of the peer. */
static const char *check_batch(const struct al_peer *peer, const struct al_rpc_doc *doc)
{
    if (!al_dispatch_takes_batches(&peer->dispatch))
        return "batches are part of revision 2025-03-26 only";
    if (!json_array_size(doc->root))
        return "the batch is empty";
    if (json_array_size(doc->root) > BATCH_MESSAGES)
        return "a batch has 1000 messages at most";
    return NULL;
}

static void serve_batch(struct post *post, const struct al_rpc_doc *doc)
{
    struct al_peer *peer = find_session(post);
    const char *problem = NULL;
    bool ended;

    if (!peer)
        return;
    set_peer(post, peer);
    (void)pthread_mutex_lock(&peer->lock);
    ended = peer->ended;
    problem = check_batch(peer, doc);
    if (!problem && !ended)
        serve_items(post, peer, doc);
    (void)pthread_mutex_unlock(&peer->lock);
    if (problem || ended)
        al_stream_refuse(post->stream, ended ? 404 : 400, 0,
                         ended ? "the session has ended" : problem);
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
        al_reply_error(reply_of(post), NULL, code, problem);
    else if (!al_rpc_doc_is_batch(&doc) && al_rpc_doc_next(&doc, &cursor, &message))
        serve_message(post, &message);
    else if (atomic_load(&post->endpoint->draining))
        al_stream_refuse(post->stream, 503, RETRY_ENDING_S, "the server is ending");
    else
        serve_batch(post, &doc);
}

static void free_post(struct post *post)
{
    al_stream_unref(post->stream);
    al_http_unref(post->exchange);
    al_principal_unref(post->principal);
    free(post);
}

/* The body and the connection are not needed while the call runs. */
static void serve(struct al_job *job)
{
    struct post *post = (struct post *)job;
    struct al_endpoint *endpoint = post->endpoint;
    struct al_inflight *call;

    post->account = al_accounts_open(&endpoint->accounts, post->principal);
    if (post->account) {
        serve_body(post);
        al_account_unref(post->account);
    } else {
        al_stream_refuse(post->stream, 401, 0, "the token is not valid any more");
    }
    if (al_stream_is_gone(post->stream))
        al_post_cancel(endpoint, post->stream);
    call = post->call;
    al_http_drop_body(post->exchange);
    al_job_pool_leave(endpoint->pool, job);
    free_post(post);
    run_call(endpoint, call);
}

void al_post_cancel(struct al_endpoint *endpoint, struct al_stream *stream)
{
    struct al_peer *peer = al_stream_get_peer(stream);

    al_calls_cancel_sink(&endpoint->service.calls, &stream->sink);
    if (peer)
        al_listing_drop_sink(&peer->dispatch.listing, &stream->sink);
    al_peer_unref(peer);
}

bool al_post_submit(struct al_endpoint *endpoint, struct al_principal *principal,
                    struct al_http_exchange *exchange, struct al_stream *stream)
{
    struct post *post = al_calloc(1, sizeof(*post));

    post->endpoint = endpoint;
    post->principal = al_principal_ref(principal);
    post->exchange = al_http_ref(exchange);
    post->request = al_http_request(exchange);
    post->stream = al_stream_ref(stream);
    post->job = (struct al_job){
        .run = serve,
        .owner = principal,
        .session = al_http_find_header(post->request, "mcp-session-id"),
        .bytes = post->request->body_len,
    };
    if (al_job_pool_submit(endpoint->pool, &post->job))
        return true;
    free_post(post);
    return false;
}
