// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/secret.h"
#include "guard/approval.h"
#include "serve/mcp/http/private.h"

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

void al_peer_count_open(struct al_peer *peer, bool opens)
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

void al_peer_keep_stream(struct al_peer *peer, struct al_stream *stream)
{
    struct al_stream *old;

    (void)pthread_mutex_lock(&peer->streams_lock);
    stream->next = peer->streams;
    peer->streams = al_stream_ref(stream);
    old = take_old(peer, AL_ENDED_STREAMS_MAX, NULL, NULL);
    (void)pthread_mutex_unlock(&peer->streams_lock);
    unref_list(old, false);
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

/* Take a session out of the list, with the list's reference.  False: it is not there. */
static bool take_session(struct al_account *account, struct al_peer *peer)
{
    struct al_peer **at = &account->sessions;

    al_hold(&account->endpoint->lock);
    while (*at && *at != peer)
        at = &(*at)->next;
    if (*at) {
        *at = peer->next;
        account->nsessions--;
        return true;
    }
    return false;
}

bool al_account_end_session(struct al_account *account, struct al_peer *peer)
{
    if (!take_session(account, peer))
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

bool al_account_is_full(const struct al_account *account)
{
    return atomic_load(&account->event_bytes) > account->endpoint->limits.event_bytes_per_token;
}

void al_account_forget_ended(struct al_account *account, const struct al_stream *but)
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

/* A session with a reference; NULL: there is none. */
static struct al_peer *any_session(struct al_account *account)
{
    al_hold(&account->endpoint->lock);
    return account->sessions ? al_peer_ref(account->sessions) : NULL;
}

void al_account_end(struct al_account *account)
{
    struct al_peer *modern = NULL, *peer;

    if (!take_account(account, &modern))
        return;
    while ((peer = any_session(account))) {
        (void)al_account_end_session(account, peer);
        al_peer_unref(peer);
    }
    al_peer_end(modern);
    al_peer_unref(modern);
    al_account_unref(account);
}

void al_accounts_end(struct al_endpoint *endpoint)
{
    while (endpoint->accounts)
        al_account_end(endpoint->accounts);
}
