// SPDX-License-Identifier: Apache-2.0
/*
 * An HTTP/1.1 server on libmicrohttpd.  It knows nothing of MCP, tokens and tools.
 *
 * One thread, the HTTP thread, has all connections.  It calls the handler's functions, which must
 * not block.  An answer, and each piece of a stream, may come from any thread at any time; none of
 * the functions that give one blocks or calls back.
 *
 * The life of an exchange (one request and its response):
 *
 *     on_headers                   the headers are complete, the body is not read
 *     on_request                   the body is complete; not called if on_headers answered
 *     al_http_answer()             or al_http_begin_stream(), al_http_send()…, al_http_end_stream()
 *     on_gone                      only if the client leaves before the response is out
 *     on_end                       always, exactly once, as the last
 *
 * A client that has closed its own direction only (a half-closed socket) cannot be told apart from
 * one that has gone.  on_gone is called for both, and an answer that comes after it is still
 * written.  A stream ends at once.
 *
 * The room refuses by itself, with 400 and the end of the connection, what intermediaries and
 * servers understand differently: two Content-Length, Content-Length with Transfer-Encoding, other
 * codings than chunked, obsolete line folding, bare LF, NUL and other control characters, header
 * names that are no tokens, single-valued headers that are there twice, targets that are no plain
 * path (absolute-form, percent-encoded, not ASCII), protocol changes.  Versions other than HTTP/1.1
 * get 505.
 *
 * The library is loaded when the first server is made (dlopen), not when the program starts.
 */
#ifndef AL_SERVE_HTTP_SERVER_H
#define AL_SERVE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "serve/http/address.h"

struct al_http_server;
struct al_http_exchange; /**< one request and its response */

/** A header of a response.  Neither string is kept. */
struct al_http_header {
    const char *name, *value;
};

/** A request.  All of it is valid as long as the caller has a reference to its exchange. */
struct al_http_request {
    const char *method; /**< as sent: "POST"; methods are not restricted */
    const char *path;   /**< the target up to `?`; begins with '/', ASCII, has no '%' */
    const char *query;  /**< what follows `?`, as sent; NULL: there is no `?` */
    const char *body;   /**< NUL-terminated after `body_len` bytes; empty in on_headers */
    size_t body_len;    /**< bytes */
    const char *peer;   /**< address of the client without its port; "" on a Unix socket */
    size_t listener;    /**< index into the listeners of the options */
    bool tls;
    struct al_http_fields *fields; /**< private; see al_http_find_header() */
};

/**
 * The value of a header, without white space around it, or NULL.
 *
 * Lines of a list-valued header (Accept, X-Forwarded-For, …) are joined with ", "; other headers
 * that are there twice never get this far.  Values are UTF-8 without control characters.
 *
 * @param name in any case
 */
const char *al_http_find_header(const struct al_http_request *request, const char *name);

/** The functions of the user of a server.  All are called on the HTTP thread, with no lock held;
 * they must not block.  Each may be NULL, but for on_request. */
struct al_http_handler {
    /** The headers are complete.  The handler may answer here: then the body is not read, and
     * on_request is not called. */
    void (*on_headers)(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request);
    /** The request is complete.  Answer here, or take a reference and answer later. */
    void (*on_request)(void *payload, struct al_http_exchange *exchange,
                       const struct al_http_request *request);
    /** The client went away, or closed its direction, before the response was out.  At most once.
     */
    void (*on_gone)(void *payload, struct al_http_exchange *exchange);
    /** The response is out, or the connection is closed.  Exactly once for each exchange that
     * reached on_headers; the last call for it.  Also for those that a stopping server ends. */
    void (*on_end)(void *payload, struct al_http_exchange *exchange);
};

/** Certificate and key of a listener. */
struct al_http_tls {
    const char *cert_path; /**< PEM; the server's certificate first, then its issuers */
    const char *key_path;  /**< PEM */
};

/** Test whether both files can be read, and who else may read the key.  Whether they are PEM and
 * belong together shows when a server starts.
 *
 * @return 0, or AL_ERR_BAD_ARGS with one line that says what is wrong. */
int al_http_tls_check(const struct al_http_tls *tls, struct al_error *err);

/** One place to listen at. */
struct al_http_listener {
    struct al_http_address address;
    bool tls;
};

/** Limits.  0 takes the default, which is the contract's. */
struct al_http_limits {
    size_t body_bytes;   /**< body of a request; more is 413.  4 MiB */
    size_t header_bytes; /**< request line and headers with the empty line; more is 431.  32 KiB */
    size_t connections;  /**< of all listeners; one more gets 503 and is closed.  512 */
    size_t connections_of_key; /**< see al_http_set_key().  64 */
    size_t stream_bytes; /**< queued for a client that does not read; see al_http_send().  1 MiB */
    int64_t request_ms;  /**< from a request's first byte to its last; then closed.  60 s */
    unsigned stall_s; /**< nothing is sent or taken, and no answer is awaited; then closed.  60 */
    int64_t keep_alive_ms; /**< see al_http_begin_stream().  25 s */
};

/** The parts of a server.  All of it is copied or read before al_http_server_new() returns. */
struct al_http_options {
    const struct al_http_listener *listeners;
    size_t listener_count;  /**< at least 1 */
    struct al_http_tls tls; /**< for the listeners with `tls` */
    struct al_http_limits limits;
    const struct al_http_handler *handler; /**< outlives the server */
    void *payload;                         /**< first argument of the handler's functions */
};

/**
 * Take every address, without listening there yet.
 *
 * A Unix socket has mode 0600.  A dead one in its way is replaced; a live one, or another file, is
 * an error and left alone.
 *
 * @return 0; AL_ERR_NOT_FOUND: the library is not installed; AL_ERR_BAD_ARGS: certificate or key;
 *         AL_ERR_EXECUTION: an address cannot be listened at.  On an error nothing is left behind.
 */
int al_http_server_new(const struct al_http_options *options, struct al_http_server **ret_server,
                       struct al_error *err);

/** Listen, and start the HTTP thread: from here on the handler may be called.  Called once.  0 or
 * AL_ERR_EXECUTION, and then only al_http_server_free() is left to do. */
int al_http_server_start(struct al_http_server *server, struct al_error *err);

/** The real address of the listener `index`: with the port that the kernel chose for port 0. */
const struct al_http_address *al_http_server_address(const struct al_http_server *server,
                                                     size_t index);

/** Stop listening (Unix sockets are removed) and close connections without a request.  Requests
 * that came are served, then their connections are closed.  Wait for that, `wait_ms` at most, and
 * return whether all are closed.  Threads: any but the HTTP thread. */
bool al_http_server_drain(struct al_http_server *server, int64_t wait_ms);

/** Close what is open (on_end is called for each exchange), end the thread, release everything.
 * Exchanges that are still referenced stay valid; an answer to them does nothing.  NULL is fine.
 * Threads: any but the HTTP thread. */
void al_http_server_free(struct al_http_server *server);

/** References to an exchange.  The room has one of its own until on_end has returned; whoever
 * answers later takes another.  Threads: any. */
struct al_http_exchange *al_http_ref(struct al_http_exchange *exchange);
void al_http_unref(struct al_http_exchange *exchange);

/** The request of an exchange.  After on_request only al_http_drop_body() changes it, and the value
 * of Authorization is wiped. */
const struct al_http_request *al_http_request(const struct al_http_exchange *exchange);

/** Release the body of a request that came to on_request, long before the exchange ends say.
 * Threads: any, but nobody else looks at the body any more. */
void al_http_drop_body(struct al_http_exchange *exchange);

/** One pointer of the handler's; not touched by the room.  Threads: the handler's to order. */
void al_http_set_data(struct al_http_exchange *exchange, void *data);
void *al_http_data(const struct al_http_exchange *exchange);

/** Count the exchange's connection among those of `key`, a number that is never used again, for as
 * long as it is open or until it gets another key.  False: the key has its limit of connections
 * already; the handler answers.  0: no key.  Threads: the HTTP thread. */
bool al_http_set_key(struct al_http_exchange *exchange, uint64_t key);

/** Give the answer no sooner than in `delay_ms`, without a thread that waits.  Before the answer.
 * Threads: any. */
void al_http_delay(struct al_http_exchange *exchange, int64_t delay_ms);

/** Add a header to the response of an exchange, whoever gives that.  Before the answer.  Threads:
 * any. */
void al_http_add_header(struct al_http_exchange *exchange, const char *name, const char *value);

/** Answer.  Content-Length, Date and Connection are added here.  The body is copied; a HEAD request
 * and the statuses without a body get none of it.  A second answer, and one after on_end, does
 * nothing. Threads: any. */
void al_http_answer(struct al_http_exchange *exchange, unsigned status,
                    const struct al_http_header *headers, size_t header_count, const char *body,
                    size_t body_len);

/** Begin an answer whose body is server-sent events in pieces, as chunks.  A comment is sent when
 * it has sent nothing for `keep_alive_ms`: a proxy ends what is silent.  Threads: any. */
void al_http_begin_stream(struct al_http_exchange *exchange, unsigned status,
                          const struct al_http_header *headers, size_t header_count);

/** Queue a piece.  False: the client is gone, or more than `stream_bytes` wait already, and nothing
 * is queued.  One piece is never too large by itself.  Threads: any. */
bool al_http_send(struct al_http_exchange *exchange, const char *bytes, size_t len);

/**
 * Find the token in "Bearer TOKEN", where the scheme's case is ignored.
 *
 * @param value      The only Authorization header of the request; NULL: there is none.
 * @param ret_token  Borrowed from `value`.  On success only.
 * @return false for another scheme, and for anything but one word of visible ASCII after it.
 */
bool al_http_bearer(const char *value, const char **ret_token, size_t *ret_len);

/** End the stream after what is queued.  Threads: any. */
void al_http_end_stream(struct al_http_exchange *exchange);

/** Close the connection now; what is queued is lost.  on_end follows.  Threads: any. */
void al_http_abort(struct al_http_exchange *exchange);

#endif
