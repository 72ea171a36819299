// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/peer.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>

#include "guard/rules/approval.h"
#include "mcp/http/account.h"
#include "mcp/http/stream.h"
#include "mcp/service.h"
#include "util/clock.h"

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

struct al_peer *al_peer_new(struct al_account *account, bool is_modern)
{
    struct al_peer *peer = al_calloc(1, sizeof(*peer));

    peer->account = al_account_ref(account);
    peer->session = *account->offer.session;
    peer->session.approvals = al_approvals_new();
    peer->session.owner = account->principal->number;
    peer->turn = (struct al_gate){ .max = 1, .in_order = true };
    peer->session.number = ++account->accounts->npeers;
    (void)pthread_mutex_init(&peer->lock, NULL);
    (void)pthread_mutex_init(&peer->streams_lock, NULL);
    atomic_init(&peer->used_ms, al_clock_ms());
    if (!is_modern) {
        peer->server_stream = al_stream_new(NULL);
        peer->server_stream->begun = true; /* it has no answer, so it is never plain */
    }
    al_dispatch_init(&peer->dispatch, &(struct al_dispatch_options){
                                          .service = account->accounts->service,
                                          .offer = &account->offer,
                                          .session = &peer->session,
                                          .out = is_modern ? NULL : &peer->server_stream->sink,
                                          .unused = free_peer,
                                      });
    peer->dispatch.scope.quota = &account->quota;
    peer->dispatch.scope.ids_repeat = is_modern;
    if (peer->server_stream)
        al_stream_set_peer(peer->server_stream, al_peer_ref(peer));
    return peer;
}

bool al_peer_make_id(struct al_peer *peer)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[AL_SESSION_ID_CHARS / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        peer->id[2 * i] = digits[bytes[i] >> 4];
        peer->id[2 * i + 1] = digits[bytes[i] & 15];
    }
    return true;
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

void al_peer_count_open(struct al_peer *peer, bool opens)
{
    if (opens)
        (void)atomic_fetch_add(&peer->nopen, 1);
    else
        (void)atomic_fetch_sub(&peer->nopen, 1);
    atomic_store(&peer->used_ms, al_clock_ms());
}

unsigned long al_peer_number_stream(struct al_peer *peer)
{
    unsigned long number;

    (void)pthread_mutex_lock(&peer->streams_lock);
    number = ++peer->nstreams;
    (void)pthread_mutex_unlock(&peer->streams_lock);
    return number;
}

/* Caller holds the lock.  Take the ended streams beyond the limit out of the list. */
static struct al_stream *take_old(struct al_peer *peer)
{
    struct al_stream **at = &peer->streams, *old = NULL;
    size_t nended = 0;

    while (*at) {
        struct al_stream *stream = *at;

        if (!atomic_load(&stream->is_done) || ++nended <= AL_ENDED_STREAMS_MAX) {
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

void al_peer_keep_stream(struct al_peer *peer, struct al_stream *stream)
{
    struct al_stream *old;

    (void)pthread_mutex_lock(&peer->streams_lock);
    stream->next = peer->streams;
    peer->streams = al_stream_ref(stream);
    old = take_old(peer);
    (void)pthread_mutex_unlock(&peer->streams_lock);
    unref_list(old, false);
}

struct al_stream *al_peer_find_stream(struct al_peer *peer, unsigned long number)
{
    struct al_stream *stream;

    (void)pthread_mutex_lock(&peer->streams_lock);
    stream = number ? peer->streams : peer->server_stream;
    while (stream && number && stream->number != number)
        stream = stream->next;
    if (stream)
        (void)al_stream_ref(stream);
    (void)pthread_mutex_unlock(&peer->streams_lock);
    return stream;
}

/* No message is served from here on, and nothing refers to the server's stream.  False: it was so
 * before. */
static bool stop(struct al_peer *peer)
{
    bool first;

    (void)pthread_mutex_lock(&peer->lock);
    first = !peer->ended;
    peer->ended = true;
    peer->dispatch.out = NULL;
    (void)pthread_mutex_unlock(&peer->lock);
    if (first)
        al_listing_set_legacy(&peer->dispatch.listing, NULL);
    return first;
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
    al_calls_cancel_scope(&peer->dispatch.service->calls, &peer->dispatch.scope);
    al_listing_end(&peer->dispatch.listing, close_sink);
    (void)pthread_mutex_lock(&peer->streams_lock);
    streams = al_take(&peer->streams);
    server_stream = al_take(&peer->server_stream);
    (void)pthread_mutex_unlock(&peer->streams_lock);
    unref_list(streams, true);
    unref_list(server_stream, true);
}
