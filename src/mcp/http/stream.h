// SPDX-License-Identifier: Apache-2.0
/*
 * The response of a request: the sink of its messages.
 *
 *   first message        response
 *   the answer           plain JSON, with the status that fits
 *   progress, question   200 and server-sent events, the last of which is the answer
 *
 * A legacy stream that has begun keeps what it sent (mcp/http/events.h).  It goes on without a
 * connection, and another connection can be attached to it.
 *
 *   reference   who                                           until
 *   reply       the request in mcp/                           it is answered
 *   exchange    the HTTP response, as the data of it          on_end
 *   session     the legacy session, once the stream began     the session forgets it
 *
 * Threads: any.  The lock of a stream is taken after every other lock of mcp/.
 */
#ifndef AL_MCP_HTTP_STREAM_H
#define AL_MCP_HTTP_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "mcp/http/events.h"
#include "wire/sink.h"

struct al_event_store;
struct al_http_exchange;
struct al_peer;
struct al_stream;

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

    struct al_event_store *store;    /**< of the account; NULL: nothing is kept.  Set with `peer` */
    struct al_stream *older, *newer; /**< in the store, whose lock guards these */
    bool is_stored;
};

/** Make a stream with one reference.  `exchange` may be NULL, else the stream becomes its data and
 * takes references of both. */
struct al_stream *al_stream_new(struct al_http_exchange *exchange);
struct al_stream *al_stream_ref(struct al_stream *stream);

/** Take a reference unless the last one has been dropped; whether it was taken. */
bool al_stream_try_ref(struct al_stream *stream);
void al_stream_unref(struct al_stream *stream);

/** Answer with a status and an error without a JSON-RPC id, which names no header but
 * `retry_after_s` (0: none). */
void al_stream_refuse(struct al_stream *stream, unsigned status, int retry_after_s,
                      const char *problem);

/** Answer with a status and this line. */
void al_stream_answer(struct al_stream *stream, unsigned status, const struct al_str *line);

/**
 * Send the events behind `after` to a connection, and those to come.  An earlier connection is
 * ended.  The stream becomes the data of the exchange.
 *
 * @return false: some of these events are not kept; nothing was done.
 */
bool al_stream_attach(struct al_stream *stream, struct al_http_exchange *exchange,
                      unsigned long after);

/** Send what no connection has got yet to this one. */
void al_stream_attach_rest(struct al_stream *stream, struct al_http_exchange *exchange);

/** The response of this exchange is out, or its connection is closed.  Drops the reference of the
 * exchange. */
void al_stream_detach(struct al_stream *stream, struct al_http_exchange *exchange);

/** Say that the request is a modern one, before its first message. */
void al_stream_set_modern(struct al_stream *stream);

/** Say whose stream it is.  The caller passes a reference on. */
void al_stream_set_peer(struct al_stream *stream, struct al_peer *peer);

/** The client has gone.  Whether the stream's calls are to be cancelled. */
bool al_stream_mark_gone(struct al_stream *stream, const struct al_http_exchange *exchange);

/** Whose stream it is, with a reference; NULL: nobody's yet. */
struct al_peer *al_stream_get_peer(struct al_stream *stream);

/** Whether al_stream_mark_gone() has said so, or would have if the era had been known then. */
bool al_stream_is_gone(struct al_stream *stream);

/** End the response; nothing more is sent. */
void al_stream_close(struct al_stream *stream);

#endif
