// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "serve/http/server.h"
#include "serve/mcp/http/private.h"

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
        al_peer_count_open(stream->peer, false);
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
        al_peer_keep_stream(stream->peer, stream);
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

    if (account && al_account_is_full(account))
        al_account_forget_ended(account, stream);
    if (!account || !al_account_is_full(account))
        return;
    al_hold(&stream->lock);
    while (al_account_is_full(account) && stream->events.count > 1)
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

/* Caller holds the lock. */
static void attach(struct al_stream *stream, struct al_http_exchange *exchange, unsigned long after)
{
    if (stream->exchange) {
        al_http_end_stream(stream->exchange);
        release_exchange(stream);
    }
    stream->begun = true;
    stream->exchange = al_http_ref(exchange);
    if (stream->peer)
        al_peer_count_open(stream->peer, true);
    al_http_set_data(exchange, al_stream_ref(stream));
    begin_events(exchange);
    while (after < stream->events.last)
        send_text(stream, slot(&stream->events, ++after));
    stream->sent = stream->events.last;
    if (stream->ended)
        end(stream);
}

bool al_stream_attach(struct al_stream *stream, struct al_http_exchange *exchange,
                      unsigned long after)
{
    bool has;

    al_hold(&stream->lock);
    has = has_after(&stream->events, after);
    if (has)
        attach(stream, exchange, after);
    return has;
}

void al_stream_attach_rest(struct al_stream *stream, struct al_http_exchange *exchange)
{
    unsigned long after;

    al_hold(&stream->lock);
    after = stream->sent;
    if (!has_after(&stream->events, after))
        after = stream->events.last - stream->events.count;
    attach(stream, exchange, after);
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
        al_peer_count_open(peer, true);
}

struct al_peer *al_stream_get_peer(struct al_stream *stream)
{
    al_hold(&stream->lock);
    return stream->peer ? al_peer_ref(stream->peer) : NULL;
}

bool al_stream_mark_gone(struct al_stream *stream, const struct al_http_exchange *exchange)
{
    al_hold(&stream->lock);
    /* Which era the request is of may be found out later. */
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
