// SPDX-License-Identifier: Apache-2.0
/*
 * One client over HTTP as MCP sees it: a legacy session, or all modern requests of one token.
 *
 * A peer has "always" answers, calls, subscriptions and streams of its own.  Its references are
 * those of its call scope, so that it outlives its calls.
 */
#ifndef AL_MCP_HTTP_PEER_H
#define AL_MCP_HTTP_PEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mcp/dispatch.h"
#include "tool/call.h"

struct al_account;
struct al_stream;

/** Characters of a session id: 128 random bits in hexadecimal. */
#define AL_SESSION_ID_CHARS 32

/** Ended streams that a session keeps for a client that lost its connection. */
#define AL_ENDED_STREAMS_MAX 8

struct al_peer {
    struct al_dispatch dispatch;
    struct al_account *account;       /**< holds a reference */
    struct al_session session;        /**< the principal's, with `approvals` of its own */
    char id[AL_SESSION_ID_CHARS + 1]; /**< of a legacy session; "": the modern requests */

    atomic_size_t nopen;          /**< responses that are not complete */
    atomic_int_least64_t used_ms; /**< when something last happened; al_clock_ms() */

    struct al_peer *next; /**< in the account's list, whose lock guards it */

    struct al_gate turn;  /**< messages of a session are served one after the other */
    pthread_mutex_t lock; /**< taken while one message is served, and guards `ended` */
    bool ended;           /**< no message is served any more */

    pthread_mutex_t streams_lock;    /**< guards the members below; the last lock to be taken */
    struct al_stream *streams;       /**< that have begun, newest first; with references */
    struct al_stream *server_stream; /**< for what belongs to no request; NULL: modern, or ended */
    unsigned long nstreams;          /**< the last stream's number */
};

/** Make a peer of an account, which it references. */
struct al_peer *al_peer_new(struct al_account *account, bool is_modern);

/** Give a legacy peer its id.  False: there are no random bytes. */
bool al_peer_make_id(struct al_peer *peer);

struct al_peer *al_peer_ref(struct al_peer *peer);
/** NULL is fine. */
void al_peer_unref(struct al_peer *peer);

/** Count a response as open, or no longer. */
void al_peer_count_open(struct al_peer *peer, bool opens);

/** The next stream's number. */
unsigned long al_peer_number_stream(struct al_peer *peer);

/** Keep a stream that has begun, and forget the oldest ended ones. */
void al_peer_keep_stream(struct al_peer *peer, struct al_stream *stream);

/** The stream with this number, with a reference; 0: the server's; NULL: it is not kept. */
struct al_stream *al_peer_find_stream(struct al_peer *peer, unsigned long number);

/** End it: calls are cancelled, and streams end.  Does nothing the second time. */
void al_peer_end(struct al_peer *peer);

#endif
