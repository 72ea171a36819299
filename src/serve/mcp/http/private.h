// SPDX-License-Identifier: Apache-2.0
/* The parts that the files of the room share: streams of events, clients, tokens, and what an
 * endpoint consists of. */
#ifndef AL_SERVE_MCP_HTTP_PRIVATE_H
#define AL_SERVE_MCP_HTTP_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/sink.h"
#include "base/str.h"
#include "call/call.h"
#include "serve/mcp/dispatch.h"
#include "serve/mcp/http/endpoint.h"
#include "serve/mcp/pool.h"

struct al_account;
struct al_http_exchange;
struct al_http_request;
struct al_peer;
struct al_stream;

/*
 * The events that a stream of server-sent events has sent, so that a client whose connection broke
 * can have them again.  Bounded: the oldest events are forgotten first.
 *
 * Events of a stream are numbered from 1.  Threads: the owner locks.
 *
 * Source: HTML, "Server-sent events".
 */

/** Events that are kept, and their bytes.  The newest one is kept whatever its size. */
#define AL_EVENTS_MAX       64
#define AL_EVENTS_MAX_BYTES ((size_t)1024 * 1024)

struct al_events {
    struct al_str items[AL_EVENTS_MAX]; /**< a ring: event `n` is at `n % AL_EVENTS_MAX` */
    unsigned long last;                 /**< the newest event; 0: none was sent */
    size_t count;                       /**< of those that are kept */
    size_t bytes;
};

/** Read the id of an event: "STREAM-EVENT".  False: it is none. */
bool al_event_read_id(const char *id, unsigned long *ret_stream, unsigned long *ret_event);

/*
 * The response of a request: the sink of its messages.
 *
 *   first message        response
 *   the answer           plain JSON, with the status that fits
 *   progress, question   200 and server-sent events, the last of which is the answer
 *
 * A legacy stream that has begun keeps what it sent.  It goes on without a
 * connection, and another connection can be attached to it.
 *
 *   reference   who                                           until
 *   reply       the request in mcp/                           it is answered
 *   exchange    the HTTP response, as the data of it          on_end
 *   session     the legacy session, once the stream began     the session forgets it
 *
 * Threads: any.  The lock of a stream is taken after every other lock of mcp/.
 */

struct al_stream {
    struct al_message_sink sink;
    atomic_size_t refs;

    /* Set before the first message, on the thread that serves the request. */
    const char *session_id; /**< of the session that the request makes; NULL: none */
    unsigned long number;   /**< in the session; names the stream in the ids of its events */
    bool tells_first_id;    /**< revision 2025-11-25: the first event has an id and no message */
    bool awaits_answer;     /**< the body has a request */
    atomic_bool is_done;    /**< `ended`, without the lock */

    pthread_mutex_t lock;              /**< guards the members below */
    struct al_peer *peer;              /**< holds a reference; NULL: none was found yet */
    struct al_http_exchange *exchange; /**< holds a reference; NULL: no connection */
    bool is_modern;                    /**< false until the request is known to be */
    bool left;                         /**< the client has gone before the answer */
    bool begun;                        /**< it is a stream of events */
    bool ended;                        /**< it was answered, or never will be */
    bool failed;                       /**< the answer is an error */
    unsigned long sent;                /**< events given to a connection */
    struct al_events events;

    struct al_stream *next; /**< in the session's list, whose lock guards it */
};

/** Make a stream with one reference.  `exchange` may be NULL, else the stream becomes its data and
 * takes references of both. */
struct al_stream *al_stream_new(struct al_http_exchange *exchange);
struct al_stream *al_stream_ref(struct al_stream *stream);

void al_stream_unref(struct al_stream *stream);

/** A status that the code of an error does not give, and after how many seconds a client may try
 * again; 0: it is not said. */
struct al_refusal {
    unsigned status;
    int retry_after_s;
};

/** Answer the request with this id (NULL: none) with an error. */
void al_stream_refuse(struct al_stream *stream, struct al_refusal as, const char *id,
                      enum al_rpc_code code, const char *problem);

/**
 * Send the events behind `after` to a connection, and those to come; NULL: what no connection has
 * got yet.  An earlier connection is ended.  The stream becomes the data of the exchange.
 *
 * @return false: some of these events are not kept; nothing was done.
 */
bool al_stream_attach(struct al_stream *stream, struct al_http_exchange *exchange,
                      const unsigned long *after);

/** The response of this exchange is out, or its connection is closed.  Drops the reference of the
 * exchange. */
void al_stream_detach(struct al_stream *stream, struct al_http_exchange *exchange);

/** Say whose stream it is, before its first message.  The caller passes a reference on. */
void al_stream_set_peer(struct al_stream *stream, struct al_peer *peer);

/** The client has gone.  Whether the stream's calls are to be cancelled. */
bool al_stream_mark_gone(struct al_stream *stream, const struct al_http_exchange *exchange);

/** Whose stream it is, with a reference; NULL: nobody's yet. */
struct al_peer *al_stream_get_peer(struct al_stream *stream);

/** Whether al_stream_mark_gone() has said so, or would have if the era had been known then. */
bool al_stream_is_gone(struct al_stream *stream);

/** End the response; nothing more is sent. */
void al_stream_close(struct al_stream *stream);

/*
 * One client over HTTP as MCP sees it: a legacy session, or all modern requests of one token.
 *
 * A peer has "always" answers, calls, subscriptions and streams of its own.  Its references are
 * those of its call scope, so that it outlives its calls.
 */

/** Characters of a session id: 128 random bits in hexadecimal. */
#define AL_SESSION_ID_CHARS 32

/** Ended streams that a session keeps for a client that lost its connection. */
#define AL_ENDED_STREAMS_MAX 8

struct al_peer {
    struct al_dispatch dispatch;
    struct al_account *account;       /**< holds a reference */
    struct al_session session;        /**< the account's, with `approvals` of its own */
    char id[AL_SESSION_ID_CHARS + 1]; /**< of a legacy session; "": the modern requests */

    atomic_ulong nstreams;        /**< the last stream's number */
    atomic_size_t nopen;          /**< responses that are not complete */
    atomic_int_least64_t used_ms; /**< when something last happened; al_clock_ms() */

    struct al_peer *next; /**< in the account's list, whose lock guards it */

    struct al_gate turn;  /**< messages of a session are served one after the other */
    atomic_bool ended;    /**< no message is served any more */
    pthread_mutex_t lock; /**< taken while one message is served, and guards `is_stopped` */
    bool is_stopped;      /**< al_peer_end() has done its work */

    pthread_mutex_t streams_lock;    /**< guards the members below; the last lock to be taken */
    struct al_stream *streams;       /**< that have begun, newest first; with references */
    struct al_stream *server_stream; /**< for what belongs to no request; NULL: modern, or ended */
};

struct al_peer *al_peer_ref(struct al_peer *peer);
/** NULL is fine. */
void al_peer_unref(struct al_peer *peer);

/** End it: calls are cancelled, and streams end.  Never waits; does nothing the second time. */
void al_peer_end(struct al_peer *peer);

/** The stream with this number, with a reference; 0: the server's; NULL: it is not kept. */
struct al_stream *al_peer_find_stream(struct al_peer *peer, unsigned long number);

/*
 * The account of a token in a server: its offer, its sessions, and how many calls it may have.
 *
 * Everything of a client is looked up in its account, so what one token has cannot be found with
 * another.
 *
 * Threads: any.
 */

struct al_account {
    struct al_endpoint *endpoint;
    atomic_size_t refs;
    struct al_session session;
    void (*release)(struct al_session *session); /**< see al_account_new() */
    uint64_t number;
    struct al_offer offer;
    struct al_call_quota quota;
    struct al_lane lane;       /**< of its messages */
    atomic_size_t event_bytes; /**< that its streams keep */

    /* The lock of the endpoint guards these. */
    struct al_account *next;
    struct al_peer *modern;   /**< with a reference; NULL: it has ended */
    struct al_peer *sessions; /**< with references */
    size_t nsessions;
};

/** The peer of all modern requests, with a reference; NULL: the account has ended. */
struct al_peer *al_account_modern(struct al_account *account);

/** Make a session; NULL: there are as many as may be.  The caller gets a reference. */
struct al_peer *al_account_add_session(struct al_account *account);

/** The session with this id, with a reference; NULL: there is none. */
struct al_peer *al_account_find_session(struct al_account *account, const char *id);

/** End a session of the account, or with NULL any.  False: it was ended before, or there is none.
 */
bool al_account_end_session(struct al_account *account, const struct al_peer *which);

/** Have a task that serves a message run, after those of the same session (NULL: none).  The caller
 * has references of both.  False: the account has too many, and nothing was done. */
bool al_account_submit(struct al_account *account, struct al_peer *session, struct al_task *task);

/** End every session that was not used for the idle time. */
void al_accounts_end_idle(struct al_endpoint *endpoint);

/** End everything. */
void al_accounts_end(struct al_endpoint *endpoint);

/*
 * The claims of a request's headers about its body.
 *
 *   header                modern                          legacy
 *   Content-Type          application/json                application/json
 *   Accept                both types, or missing          both types, or missing
 *   MCP-Protocol-Version  that of the envelope            a revision of this era, or missing
 *   Mcp-Method            the method                      ignored
 *   Mcp-Name              the tool, prompt or resource    ignored
 *
 * Source: MCP 2026-07-28 and 2025-11-25, "Streamable HTTP"; RFC 9110, section 12.5.1.
 */

/** Test whether a Content-Type (NULL: missing) is JSON. */
bool al_rules_is_json(const char *content_type);

/** Test whether an Accept header (NULL: missing) takes a type, "application/json" say. */
bool al_rules_accepts(const char *accept, const char *type);

struct al_endpoint {
    struct al_service service;
    struct al_endpoint_options limits;
    struct al_pool *pool;
    atomic_bool draining; /**< no request is served any more */

    pthread_t ticker;    /**< sends progress and ends idle sessions */
    int wake_fd;         /**< eventfd that wakes it */
    atomic_bool stopped; /**< it is to end */

    pthread_mutex_t lock; /**< guards the members below and the lists of sessions */
    struct al_account *accounts;
    uint64_t npeers; /**< the last peer's number */
};

#endif
