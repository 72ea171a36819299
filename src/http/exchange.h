// SPDX-License-Identifier: Apache-2.0
/*
 * One request and its response: what server.h calls an exchange.  For the room only.
 *
 * Locking: the server's lock guards the members under "answer".  Those under "connection" belong to
 * the HTTP thread; those under "request" do not change once the handler has seen them complete.
 */
#ifndef AL_HTTP_EXCHANGE_H
#define AL_HTTP_EXCHANGE_H

#include <stdatomic.h>

#include "http/fields.h"
#include "http/server.h"
#include "util/str.h"

struct al_http_connection;

/** How far a request has come. */
enum al_http_stage { AL_HTTP_HEADERS, AL_HTTP_BODY, AL_HTTP_COMPLETE };

struct al_http_exchange {
    atomic_size_t refs;
    struct al_http_server *server; /**< referenced */
    void *data;                    /**< the handler's */

    /* request */
    struct al_http_request request;
    struct al_http_fields fields;
    char *method, *target, *peer; /**< `target` is cut at '?' */
    struct al_str body;

    /* connection */
    struct al_http_connection *connection; /**< NULL once the response is out or lost */
    enum al_http_stage stage;
    bool for_handler; /**< on_headers was called, so on_end will be */
    bool told_gone;   /**< on_gone was called */
    bool responding;  /**< the library has the response */
    bool too_large;   /**< a chunked body went over the limit; the rest is dropped */
    bool close;       /**< the connection ends with the response */

    /* answer */
    bool answered; /**< status and headers are there */
    bool stream;
    bool ended;             /**< no more comes: the whole body is in `out` */
    bool aborted;           /**< close the connection */
    bool over;              /**< the response is out or lost: nothing is taken any more */
    const char *keep_alive; /**< al_http_keep_alive(); NULL: nothing is sent by itself */
    bool in_ready;
    struct al_http_exchange *next_ready;
    int64_t not_before_ms; /**< al_http_delay() */
    unsigned status;
    struct al_strv names, values; /**< of the headers */
    struct al_str out;            /**< body, or what of a stream waits */
    size_t out_sent;              /**< bytes of `out` that the library took */
};

/** A new exchange with one reference. */
struct al_http_exchange *al_http_exchange_new(struct al_http_server *server);

/** When the answer is to go out: a time that has passed if there was no al_http_delay(), INT64_MAX
 * while there is no answer.  Threads: the HTTP thread. */
int64_t al_http_exchange_due_ms(struct al_http_exchange *exchange);

/** Whether there is no answer yet, or a stream that goes on.  Threads: the HTTP thread. */
bool al_http_exchange_wants_client(struct al_http_exchange *exchange);

/** The text of al_http_keep_alive() of a stream that goes on, else NULL.  Threads: the HTTP thread.
 */
const char *al_http_exchange_keep_alive(struct al_http_exchange *exchange);

/** Take up to `max` bytes of the body: their number; 0: none now; -1: the end; -2: aborted.
 * Threads: the HTTP thread. */
int64_t al_http_exchange_take(struct al_http_exchange *exchange, char *ret_bytes, size_t max);

/** Drop what is queued, and take nothing more.  Threads: the HTTP thread. */
void al_http_exchange_over(struct al_http_exchange *exchange);

#endif
