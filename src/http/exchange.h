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

#include "http/server.h"
#include "util/str.h"
#include <stdbool.h>
#include <stddef.h>

/** More headers than this are refused with 431. */
#define AL_HTTP_FIELDS_MAX 100u

/** Headers in the order of the request. */
struct al_http_fields {
    struct al_strv names, values;
};

#define AL_HTTP_FIELDS_INIT                                                                        \
    ((struct al_http_fields){ .names = AL_STRV_INIT, .values = AL_STRV_INIT })

/** What the headers say about the body. */
struct al_http_framing {
    bool has_body; /**< a body follows, perhaps an empty one */
    bool chunked;
    bool too_large;  /**< Content-Length is above the limit */
    const char *bad; /**< the request is refused with 400: why; else NULL */
};

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

/** Values that prove who asks (Authorization, Cookie) are wiped. */
void al_http_fields_clear(struct al_http_fields *fields);

/** Wipe the value of a header; it is "" from here on.  Threads: others may look for other headers.
 */
void al_http_fields_wipe(struct al_http_fields *fields, const char *name);

/** The value of a header, or NULL.  `name` in any case. */
const char *al_http_fields_find(const struct al_http_fields *fields, const char *name);

/** Add a header line.  NULL, or why it is refused, as a short phrase. */
const char *al_http_fields_add(struct al_http_fields *fields, const char *name, size_t name_len,
                               const char *value, size_t value_len);

/** Read Content-Length, Transfer-Encoding and Upgrade as strictly as any server does. */
struct al_http_framing al_http_fields_framing(const struct al_http_fields *fields,
                                              size_t max_body_bytes);

/** Test the target of a request: NULL, or why it is refused. */
const char *al_http_check_target(const char *target);

/** Test whether all bytes are those of a token (RFC 9110), as in methods and names. */
bool al_http_is_token(const char *text, size_t len);

/**
 * Find the token in "Bearer TOKEN", where the scheme's case is ignored.
 *
 * @param value      The only Authorization header of the request; NULL: there is none.
 * @param ret_token  Borrowed from `value`.  On success only.
 * @return false for another scheme, and for anything but one word of visible ASCII after it.
 */
bool al_http_bearer(const char *value, const char **ret_token, size_t *ret_len);

#endif
