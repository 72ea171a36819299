// SPDX-License-Identifier: Apache-2.0
/*
 * One connection: what phase it is in, its deadlines, and how it ends.  For the room only.
 *
 * All of it belongs to the HTTP thread.  The library owns the socket; this room watches it too,
 * since a connection whose request waits for its answer is suspended, and the library does not look
 * at it then.
 */
#ifndef AL_HTTP_CONNECTION_H
#define AL_HTTP_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "http/address.h"

struct MHD_Connection; /**< the library's */
struct al_http_server;
struct al_http_exchange;

/** What an event of the server's epoll is about; the first member of what its pointer points to. */
enum al_http_source {
    AL_HTTP_SOURCE_WAKE,
    AL_HTTP_SOURCE_LISTENER,
    AL_HTTP_SOURCE_DAEMON, /**< the library's own epoll */
    AL_HTTP_SOURCE_CONNECTION,
};

enum al_http_phase {
    AL_HTTP_NEW,       /**< no byte came, and the library does not have it yet */
    AL_HTTP_IDLE,      /**< between two requests */
    AL_HTTP_READING,   /**< a request has begun */
    AL_HTTP_WAITING,   /**< it is complete, the answer is not there */
    AL_HTTP_WRITING,   /**< the response is under way */
    AL_HTTP_LINGERING, /**< the library has closed it; what the client still sends is dropped */
};

struct al_http_connection {
    enum al_http_source source;
    struct al_http_server *server;
    struct al_http_connection *prev, *next;
    struct MHD_Connection *library; /**< NULL while new or lingering */
    int fd;                         /**< the library's; while new or lingering our own */
    size_t listener;
    struct al_http_address peer;
    uint64_t key; /**< al_http_set_key() */

    enum al_http_phase phase;
    int64_t since_ms;     /**< when the phase began, or a response last made progress */
    uint64_t taken_bytes; /**< of the response, by the library */
    uint64_t progress;    /**< a number that changes with each byte that the client takes */
    unsigned unchanged;   /**< how often `progress` was found as it was */
    bool suspended;
    bool yielded;     /**< it was found waiting once; the next time it is suspended */
    bool half_closed; /**< the client sends nothing more */
    bool cut;         /**< it was shut down, and will be closed */

    char *target;      /**< of the request whose headers are read, as sent */
    const char *start; /**< where it is in the library's buffer; only compared */
    struct al_http_exchange *exchange;
};

/** Take over an accepted socket.  The library gets it with its first byte: so the time of a request
 * counts from there, and a connection that is never used costs nearly nothing. */
void al_http_connection_open(struct al_http_server *server, int fd, size_t listener,
                             const struct al_http_address *peer);

/** The library has closed it: linger, or release it. */
void al_http_connection_closed(struct al_http_connection *connection);

/** Release a connection that the library does not have any more. */
void al_http_connection_free(struct al_http_connection *connection);

/** Begin a phase. */
void al_http_connection_enter(struct al_http_connection *connection, enum al_http_phase phase);

/** epoll(7) says that bytes arrived or that the client closed something. */
void al_http_connection_event(struct al_http_connection *connection, uint32_t events);

/** Tell the handler that the client is gone, if that is so and news. */
void al_http_connection_tell_gone(struct al_http_connection *connection);

/** Let the library go on with it. */
void al_http_connection_resume(struct al_http_connection *connection);

/** Close it as soon as the library runs; at once, and released, if the library does not have it. */
void al_http_connection_cut(struct al_http_connection *connection);

/** The same, and it is never released before this returns: the set of epoll(7) may have given an
 * event of it that is still to be looked at. */
void al_http_connection_cut_later(struct al_http_connection *connection);

/** End what is over its time.  Returns when to look again, or INT64_MAX.  A lingering connection
 * may be released by this. */
int64_t al_http_connection_check(struct al_http_connection *connection, int64_t now_ms);

#endif
