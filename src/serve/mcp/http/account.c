// SPDX-License-Identifier: Apache-2.0
/* Streams of events, clients, and tokens. */
#include "serve/mcp/http/private.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "guard/approval.h"
#include "serve/http/server.h"

/* Milliseconds that a client waits before it resumes a stream. */
#define RETRY_MS 1000

bool al_event_read_id(const char *id, unsigned long *ret_stream, unsigned long *ret_event)
{
    int used = 0;

    return id[strspn(id, "0123456789-")] == '\0' &&
           sscanf(id, "%lu-%lu%n", ret_stream, ret_event, &used) == 2 && !id[used];
}

static struct al_str *slot(struct al_events *events, unsigned long number)
{
    return &events->items[number % AL_EVENTS_MAX];
}

/* Forget the oldest one.  There is one. */
static void forget_oldest(struct al_events *events)
{
    struct al_str *oldest = slot(events, events->last - events->count + 1);

    events->bytes -= oldest->len;
    al_str_clear(oldest);
    events->count--;
}

/* Keep the event that comes next; it is taken over and empty afterwards. */
static void push(struct al_events *events, struct al_str *event)
{
    while (events->count &&
           (events->count == AL_EVENTS_MAX || events->bytes + event->len > AL_EVENTS_MAX_BYTES))
        forget_oldest(events);
    events->last++;
    events->count++;
    events->bytes += event->len;
    *slot(events, events->last) = *event;
    *event = AL_STR_INIT;
}

/* Whether every event behind this one is kept. */
static bool has_after(const struct al_events *events, unsigned long number)
{
    return number <= events->last && events->last - number <= events->count;
}

/* Count a response as open, or no longer. */
static void count_open(struct al_peer *peer, bool opens)
{
    if (opens)
        (void)atomic_fetch_add(&peer->nopen, 1);
    else
        (void)atomic_fetch_sub(&peer->nopen, 1);
    atomic_store(&peer->used_ms, al_clock_ms());
}

/* Caller holds the lock.  Take the ended streams but the newest ones, and but for `but`, out of the
 * list, and put them before `old`. */
static struct al_stream *take_old(struct al_peer *peer, size_t newest, const struct al_stream *but,
                                  struct al_stream *old)
{
    struct al_stream **at = &peer->streams;
    size_t nended = 0;

    while (*at) {
        struct al_stream *stream = *at;

        if (!atomic_load(&stream->is_done) || stream == but || ++nended <= newest) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        stream->next = old;
        old = stream;
    }
    return old;
}

static void unref_list(struct al_stream *streams, bool closes)
{
    while (streams) {
        struct al_stream *stream = streams;

        streams = stream->next;
        if (closes)
            al_stream_close(stream);
        al_stream_unref(stream);
    }
}

/* Keep a stream that has begun, and forget the oldest ended ones. */
static void keep_stream(struct al_peer *peer, struct al_stream *stream)
{
    struct al_stream *old;

    (void)pthread_mutex_lock(&peer->streams_lock);
    stream->next = peer->streams;
    peer->streams = al_stream_ref(stream);
    old = take_old(peer, AL_ENDED_STREAMS_MAX, NULL, NULL);
    (void)pthread_mutex_unlock(&peer->streams_lock);
    unref_list(old, false);
}

/* Whether the streams of the account keep more than they may. */
static bool is_full(const struct al_account *account)
{
    return atomic_load(&account->event_bytes) > account->endpoint->limits.event_bytes_per_token;
}

/* Forget the ended streams of all sessions, but for this one.  Caller holds no lock. */
static void forget_ended(struct al_account *account, const struct al_stream *but)
{
    struct al_stream *old = NULL;

    (void)pthread_mutex_lock(&account->endpoint->lock);
    for (struct al_peer *peer = account->sessions; peer; peer = peer->next) {
        al_hold(&peer->streams_lock);
        old = take_old(peer, 0, but, old);
    }
    (void)pthread_mutex_unlock(&account->endpoint->lock);
    unref_list(old, false);
}

static const struct al_http_header event_headers[] = {
    { "Content-Type", "text/event-stream" },
    { "Cache-Control", "no-cache" },
    { "X-Accel-Buffering", "no" }, /* a proxy may not collect events */
};

#define JSON_TYPE                                                                                  \
    {                                                                                              \
        "Content-Type", "application/json"                                                         \
    }

static void begin_events(struct al_http_exchange *exchange)
{
    al_http_begin_stream(exchange, 200, event_headers, AL_COUNT(event_headers));
}

/* Caller holds the lock.  Give up a connection. */
static void release_exchange(struct al_stream *stream)
{
    if (stream->peer)
        count_open(stream->peer, false);
    al_http_unref(stream->exchange);
    stream->exchange = NULL;
}

/* Caller holds the lock.  A client that takes nothing is cut off; it may resume a legacy stream. */
static void send_text(struct al_stream *stream, const struct al_str *text)
{
    if (stream->exchange && !al_http_send(stream->exchange, text->buf, text->len))
        al_http_abort(stream->exchange);
}

/* Caller holds the lock.  Send an event without a message, whose id a client can resume from when
 * it gets no other. */
static void send_first(struct al_stream *stream)
{
    al_auto(al_str_clear) struct al_str event = AL_STR_INIT;

    al_str_addf(&event, "id: %lu-0\nretry: %d\ndata:\n\n", stream->number, RETRY_MS);
    send_text(stream, &event);
}

/* Caller holds the lock. */
static void begin(struct al_stream *stream)
{
    stream->begun = true;
    if (stream->exchange)
        begin_events(stream->exchange);
    if (!stream->is_modern && stream->peer)
        keep_stream(stream->peer, stream);
    if (stream->tells_first_id)
        send_first(stream);
}

/* Caller holds the lock.  Keep an event, which is empty afterwards; or forget the oldest one. */
static void keep(struct al_stream *stream, struct al_str *event)
{
    const size_t before = stream->events.bytes;

    if (event)
        push(&stream->events, event);
    else
        forget_oldest(&stream->events);
    atomic_fetch_add(&stream->peer->account->event_bytes, stream->events.bytes - before);
}

/* Caller holds the lock. */
static void send_event(struct al_stream *stream, const struct al_str *line)
{
    al_auto(al_str_clear) struct al_str event = AL_STR_INIT;

    if (!stream->begun)
        begin(stream);
    if (!stream->is_modern)
        al_str_addf(&event, "id: %lu-%lu\n", stream->number, stream->events.last + 1);
    al_str_adds(&event, "event: message\ndata: ");
    al_str_add(&event, line->buf, line->len);
    al_str_adds(&event, "\n\n");
    send_text(stream, &event);
    if (stream->is_modern)
        return;
    if (stream->peer)
        keep(stream, &event);
    if (stream->exchange)
        stream->sent = stream->events.last;
}

/* Caller holds the lock. */
static void end(struct al_stream *stream)
{
    stream->ended = true;
    atomic_store(&stream->is_done, true);
    if (stream->exchange && stream->begun)
        al_http_end_stream(stream->exchange);
    if (stream->exchange)
        release_exchange(stream);
}

/* Caller holds the lock. */
static bool is_gone(const struct al_stream *stream)
{
    return stream->is_modern && stream->left;
}

/* Caller holds a reference, and no lock.  Keep to what all events of the token may have: ended
 * streams are forgotten first, then all but the newest event of this one. */
static void trim(struct al_stream *stream)
{
    struct al_account *account = stream->peer ? stream->peer->account : NULL;

    if (account && is_full(account))
        forget_ended(account, stream);
    if (!account || !is_full(account))
        return;
    al_hold(&stream->lock);
    while (is_full(account) && stream->events.count > 1)
        keep(stream, NULL);
}

static void sink_send(struct al_message_sink *sink, struct al_str *line)
{
    struct al_stream *stream = (struct al_stream *)sink;

    (void)pthread_mutex_lock(&stream->lock);
    if (!stream->ended && !is_gone(stream))
        send_event(stream, line);
    (void)pthread_mutex_unlock(&stream->lock);
    trim(stream);
}

/* The status of a plain answer; see docs/PROTOCOL.md. */
static unsigned status_of(const struct al_stream *stream, const struct al_rpc_answer *answer)
{
    if (answer->is_busy)
        return 429;
    switch (answer->code) {
    case AL_RPC_PARSE_ERROR:
    case AL_RPC_INVALID_REQUEST:
        return 400;
    case AL_RPC_METHOD_NOT_FOUND:
        return stream->is_modern ? 404 : 200;
    case AL_RPC_HEADER_MISMATCH:
    case AL_RPC_MISSING_CAPABILITY:
    case AL_RPC_UNSUPPORTED_VERSION:
        return stream->is_modern ? 400 : 200;
    case AL_RPC_OK:
    case AL_RPC_INVALID_PARAMS:
    case AL_RPC_INTERNAL_ERROR:
        break;
    }
    return 200;
}

/* Caller holds the lock. */
static void answer_plainly(struct al_stream *stream, struct al_refusal as,
                           const struct al_str *line)
{
    al_auto(al_freep) char *seconds = al_asprintf("%d", as.retry_after_s);
    struct al_http_header headers[3] = { JSON_TYPE };
    size_t count = 1;

    if (as.retry_after_s)
        headers[count++] = (struct al_http_header){ "Retry-After", seconds };
    if (stream->session_id && !stream->failed)
        headers[count++] = (struct al_http_header){ "Mcp-Session-Id", stream->session_id };
    if (stream->exchange)
        al_http_answer(stream->exchange, as.status, headers, count, line->buf, line->len);
    end(stream);
}

/* Caller holds the lock.  A request that was cancelled has no answer; its response is a stream
 * without events, because a client would take any other for one. */
static void answer_nothing(struct al_stream *stream)
{
    if (!stream->begun && stream->awaits_answer && stream->exchange) {
        stream->begun = true;
        begin_events(stream->exchange);
    } else if (!stream->begun && stream->exchange) {
        al_http_answer(stream->exchange, 202, NULL, 0, "", 0);
    }
    end(stream);
}

/* Caller holds the lock. */
static void answer(struct al_stream *stream, const struct al_rpc_answer *answer)
{
    stream->failed = answer->code != AL_RPC_OK;
    if (!answer->line) {
        answer_nothing(stream);
    } else if (stream->begun) {
        send_event(stream, answer->line);
        end(stream);
    } else {
        answer_plainly(stream, (struct al_refusal){ status_of(stream, answer), answer->is_busy },
                       answer->line);
    }
}

static void sink_answer(struct al_message_sink *sink, const struct al_rpc_answer *given)
{
    struct al_stream *stream = (struct al_stream *)sink;

    (void)pthread_mutex_lock(&stream->lock);
    if (!stream->ended)
        answer(stream, given);
    (void)pthread_mutex_unlock(&stream->lock);
    trim(stream);
    al_stream_unref(stream);
}

static void sink_stay_open(struct al_message_sink *sink)
{
    al_stream_unref((struct al_stream *)sink);
}

struct al_stream *al_stream_new(struct al_http_exchange *exchange)
{
    struct al_stream *stream = al_calloc(1, sizeof(*stream));

    stream->sink = (struct al_message_sink){ .send = sink_send,
                                             .answer = sink_answer,
                                             .stay_open = sink_stay_open };
    atomic_init(&stream->refs, 1);
    (void)pthread_mutex_init(&stream->lock, NULL);
    if (exchange) {
        stream->exchange = al_http_ref(exchange);
        al_http_set_data(exchange, al_stream_ref(stream));
    }
    return stream;
}

struct al_stream *al_stream_ref(struct al_stream *stream)
{
    (void)atomic_fetch_add(&stream->refs, 1);
    return stream;
}

void al_stream_unref(struct al_stream *stream)
{
    if (atomic_fetch_sub(&stream->refs, 1) != 1)
        return;
    if (stream->exchange)
        release_exchange(stream);
    if (stream->peer)
        atomic_fetch_sub(&stream->peer->account->event_bytes, stream->events.bytes);
    for (size_t i = 0; i < AL_EVENTS_MAX; i++)
        al_str_clear(&stream->events.items[i]);
    (void)pthread_mutex_destroy(&stream->lock);
    al_peer_unref(stream->peer);
    free(stream);
}

void al_stream_refuse(struct al_stream *stream, struct al_refusal as, const char *id,
                      enum al_rpc_code code, const char *problem)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_add_error(&line, id, code, problem);
    al_hold(&stream->lock);
    if (!stream->ended)
        answer_plainly(stream, as, &line);
}

bool al_stream_attach(struct al_stream *stream, struct al_http_exchange *exchange,
                      const unsigned long *after)
{
    unsigned long sent;

    al_hold(&stream->lock);
    sent = after ? *after : stream->sent;
    if (!has_after(&stream->events, sent) && after)
        return false;
    if (!has_after(&stream->events, sent))
        sent = stream->events.last - stream->events.count;
    if (stream->exchange) {
        al_http_end_stream(stream->exchange);
        release_exchange(stream);
    }
    stream->begun = true;
    stream->exchange = al_http_ref(exchange);
    if (stream->peer)
        count_open(stream->peer, true);
    al_http_set_data(exchange, al_stream_ref(stream));
    begin_events(exchange);
    while (sent < stream->events.last)
        send_text(stream, slot(&stream->events, ++sent));
    stream->sent = stream->events.last;
    if (stream->ended)
        end(stream);
    return true;
}

void al_stream_detach(struct al_stream *stream, struct al_http_exchange *exchange)
{
    (void)pthread_mutex_lock(&stream->lock);
    if (stream->exchange == exchange)
        release_exchange(stream);
    (void)pthread_mutex_unlock(&stream->lock);
    al_stream_unref(stream);
}

void al_stream_set_peer(struct al_stream *stream, struct al_peer *peer)
{
    al_hold(&stream->lock);
    stream->is_modern = !*peer->id;
    stream->peer = peer;
    if (stream->exchange)
        count_open(peer, true);
}

struct al_peer *al_stream_get_peer(struct al_stream *stream)
{
    al_hold(&stream->lock);
    return stream->peer ? al_peer_ref(stream->peer) : NULL;
}

bool al_stream_mark_gone(struct al_stream *stream, const struct al_http_exchange *exchange)
{
    al_hold(&stream->lock);
    /* The era of the request may be found out later. */
    stream->left |= !stream->ended && stream->exchange == exchange;
    return is_gone(stream);
}

bool al_stream_is_gone(struct al_stream *stream)
{
    al_hold(&stream->lock);
    return is_gone(stream);
}

void al_stream_close(struct al_stream *stream)
{
    al_hold(&stream->lock);
    if (!stream->ended)
        answer_nothing(stream);
}

/* --- Clients and tokens --- */

static struct al_peer *peer_of(struct al_call_scope *scope)
{
    return (struct al_peer *)((char *)scope - offsetof(struct al_peer, dispatch.scope));
}

static void free_peer(struct al_call_scope *scope)
{
    struct al_peer *peer = peer_of(scope);

    al_dispatch_clear(&peer->dispatch);
    al_approvals_free(peer->session.approvals);
    (void)pthread_mutex_destroy(&peer->lock);
    (void)pthread_mutex_destroy(&peer->streams_lock);
    al_account_unref(peer->account);
    free(peer);
}

/* Caller holds the lock.  Make a peer of an account, which it references. */
static struct al_peer *peer_new(struct al_account *account, const char *id)
{
    const bool is_modern = !*id;
    struct al_peer *peer = al_calloc(1, sizeof(*peer));

    (void)snprintf(peer->id, sizeof(peer->id), "%s", id);
    peer->account = al_account_ref(account);
    peer->session = account->session;
    peer->session.approvals = al_approvals_new(NULL);
    peer->session.owner = account->number;
    peer->turn = (struct al_gate){ .max = 1, .in_order = true };
    peer->session.number = ++account->endpoint->npeers;
    (void)pthread_mutex_init(&peer->lock, NULL);
    (void)pthread_mutex_init(&peer->streams_lock, NULL);
    atomic_init(&peer->used_ms, al_clock_ms());
    if (!is_modern) {
        peer->server_stream = al_stream_new(NULL);
        peer->server_stream->begun = true; /* it has no answer, so it is never plain */
    }
    al_dispatch_init(&peer->dispatch, &account->endpoint->service, &account->offer, &peer->session);
    peer->dispatch.out = is_modern ? NULL : &peer->server_stream->sink;
    peer->dispatch.scope.unused = free_peer;
    peer->dispatch.scope.quota = &account->quota;
    peer->dispatch.scope.ids_repeat = is_modern;
    if (peer->server_stream)
        al_stream_set_peer(peer->server_stream, al_peer_ref(peer));
    return peer;
}

struct al_peer *al_peer_ref(struct al_peer *peer)
{
    al_call_scope_ref(&peer->dispatch.scope);
    return peer;
}

void al_peer_unref(struct al_peer *peer)
{
    if (peer)
        al_call_scope_unref(&peer->dispatch.scope);
}

struct al_stream *al_peer_find_stream(struct al_peer *peer, unsigned long number)
{
    struct al_stream *stream;

    al_hold(&peer->streams_lock);
    stream = number ? peer->streams : peer->server_stream;
    while (stream && number && stream->number != number)
        stream = stream->next;
    if (stream)
        (void)al_stream_ref(stream);
    return stream;
}

/* Nothing refers to the server's stream from here on.  False: it was so before, or a message is
 * being served, and whoever serves it ends the peer after that: the HTTP thread does not wait. */
static bool stop(struct al_peer *peer)
{
    bool was_stopped;

    atomic_store(&peer->ended, true);
    if (pthread_mutex_trylock(&peer->lock) != 0)
        return false;
    was_stopped = peer->is_stopped;
    peer->is_stopped = true;
    peer->dispatch.out = NULL;
    al_dispatch_set_legacy(&peer->dispatch, NULL);
    (void)pthread_mutex_unlock(&peer->lock);
    return !was_stopped;
}

/* The stream of a subscription, which the list of streams does not have. */
static void close_sink(struct al_message_sink *sink)
{
    al_stream_close((struct al_stream *)sink);
}

void al_peer_end(struct al_peer *peer)
{
    struct al_stream *streams, *server_stream;

    if (!stop(peer))
        return;
    al_calls_cancel_all(&peer->dispatch.service->calls, &peer->dispatch.scope, NULL);
    al_dispatch_end(&peer->dispatch, close_sink);
    (void)pthread_mutex_lock(&peer->streams_lock);
    streams = al_take(&peer->streams);
    server_stream = al_take(&peer->server_stream);
    (void)pthread_mutex_unlock(&peer->streams_lock);
    unref_list(streams, true);
    unref_list(server_stream, true);
}

/* Messages of one token that are served at once.  That takes a processor, so more would not be
 * faster, and would keep out other tokens. */
#define SERVING_MAX 4

/* A parsed body takes up to 40 times its memory, so of those with more than this one is parsed at a
 * time. */
#define LARGE_BYTES ((size_t)256 * 1024)

struct al_account *al_account_ref(struct al_account *account)
{
    (void)atomic_fetch_add(&account->refs, 1);
    return account;
}

void al_account_unref(struct al_account *account)
{
    if (!account || atomic_fetch_sub(&account->refs, 1) != 1)
        return;
    al_offer_clear(&account->offer);
    if (account->release)
        account->release(&account->session);
    free(account);
}

uint64_t al_account_number(const struct al_account *account)
{
    return account->number;
}

static void set_limits(struct al_account *account, const struct al_endpoint_options *limits)
{
    account->quota = (struct al_call_quota){ .max = limits->calls_per_token,
                                             .max_bytes = limits->argument_bytes_per_token };
    account->lane = (struct al_lane){
        /* Those of clients that wait for their answers, and those that are answered already. */
        .tasks_max = limits->connections_per_token + SERVING_MAX,
        .bytes_max = limits->body_bytes_per_token,
        .running = { .max = SERVING_MAX },
        .large = { .max = 1 },
    };
}

struct al_account *al_account_new(struct al_endpoint *endpoint, const struct al_session *session,
                                  void (*release)(struct al_session *session))
{
    static atomic_uint_least64_t last;
    struct al_account *account = al_calloc(1, sizeof(*account));

    account->session = *session;
    al_offer_init(&account->offer, &account->session, true);
    account->endpoint = endpoint;
    account->release = release;
    account->number = atomic_fetch_add(&last, 1) + 1;
    set_limits(account, &endpoint->limits);
    atomic_init(&account->refs, 2); /* of the list, and the caller's */
    al_hold(&endpoint->lock);
    account->modern = peer_new(account, "");
    account->next = endpoint->accounts;
    endpoint->accounts = account;
    return account;
}

struct al_peer *al_account_modern(struct al_account *account)
{
    al_hold(&account->endpoint->lock);
    return account->modern ? al_peer_ref(account->modern) : NULL;
}

struct al_peer *al_account_add_session(struct al_account *account)
{
    struct al_endpoint *endpoint = account->endpoint;
    char id[AL_SESSION_ID_CHARS + 1];
    struct al_peer *peer;

    al_random_hex(AL_SESSION_ID_CHARS / 2, id);
    al_hold(&endpoint->lock);
    if (!account->modern || account->nsessions >= endpoint->limits.sessions_per_token)
        return NULL;
    peer = peer_new(account, id);
    peer->next = account->sessions;
    account->sessions = al_peer_ref(peer);
    account->nsessions++;
    return peer;
}

struct al_peer *al_account_find_session(struct al_account *account, const char *id)
{
    struct al_peer *peer;

    al_hold(&account->endpoint->lock);
    for (peer = account->sessions; peer && strcmp(peer->id, id) != 0; peer = peer->next)
        ;
    if (peer)
        (void)al_peer_ref(peer);
    return peer;
}

/* Take a session out of the list, with the list's reference.  NULL: it is not there. */
static struct al_peer *take_session(struct al_account *account, const struct al_peer *which)
{
    struct al_peer **at = &account->sessions, *taken;

    al_hold(&account->endpoint->lock);
    while (which && *at && *at != which)
        at = &(*at)->next;
    taken = *at;
    if (taken) {
        *at = taken->next;
        account->nsessions--;
    }
    return taken;
}

bool al_account_end_session(struct al_account *account, const struct al_peer *which)
{
    struct al_peer *peer = take_session(account, which);

    if (!peer)
        return false;
    al_peer_end(peer);
    al_peer_unref(peer);
    return true;
}

bool al_account_submit(struct al_account *account, struct al_peer *session, struct al_task *task)
{
    task->lane = &account->lane;
    task->gates[0] = &account->lane.running;
    task->gates[1] = session ? &session->turn : NULL;
    task->gates[2] = task->bytes > LARGE_BYTES ? &account->lane.large : NULL;
    return al_pool_submit(account->endpoint->pool, task);
}

/* Whether nothing of a session has gone on since then. */
static bool is_unused(struct al_peer *peer, int64_t since_ms)
{
    return atomic_load(&peer->used_ms) <= since_ms && !atomic_load(&peer->nopen) &&
           !al_calls_has_scope(&peer->dispatch.service->calls, &peer->dispatch.scope);
}

/* A session that was not used since then, with a reference; NULL: there is none. */
static struct al_peer *find_unused(struct al_endpoint *endpoint, int64_t since_ms)
{
    al_hold(&endpoint->lock);
    for (struct al_account *account = endpoint->accounts; account; account = account->next)
        for (struct al_peer *peer = account->sessions; peer; peer = peer->next)
            if (is_unused(peer, since_ms))
                return al_peer_ref(peer);
    return NULL;
}

void al_accounts_end_idle(struct al_endpoint *endpoint)
{
    const int64_t since_ms = al_clock_ms() - (int64_t)endpoint->limits.idle_s * 1000;
    struct al_peer *peer;

    while ((peer = find_unused(endpoint, since_ms))) {
        (void)al_account_end_session(peer->account, peer);
        al_peer_unref(peer);
    }
}

/* Take an account out of the list, so that it gets no sessions any more.  False: it is not there.
 */
static bool take_account(struct al_account *account, struct al_peer **ret_modern)
{
    struct al_account **at = &account->endpoint->accounts;

    al_hold(&account->endpoint->lock);
    while (*at && *at != account)
        at = &(*at)->next;
    if (*at) {
        *at = account->next;
        *ret_modern = al_take(&account->modern);
        return true;
    }
    return false;
}

void al_account_end(struct al_account *account)
{
    struct al_peer *modern = NULL;

    if (!take_account(account, &modern))
        return;
    while (al_account_end_session(account, NULL))
        ;
    al_peer_end(modern);
    al_peer_unref(modern);
    al_account_unref(account);
}

void al_accounts_end(struct al_endpoint *endpoint)
{
    while (endpoint->accounts)
        al_account_end(endpoint->accounts);
}
