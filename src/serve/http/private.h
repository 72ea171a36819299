// SPDX-License-Identifier: Apache-2.0
/*
 * The parts that the files of the room share: a server, its connections, and their exchanges.
 *
 * The HTTP thread lets the library run, which has the sockets, accepts, and ends who is silent. The
 * room has one epoll set of its own, with the daemons' epoll descriptors, and every connection: a
 * connection whose request waits for its answer is suspended, and the library does not look at it
 * then.  After each turn the thread looks at all connections: which may go on, which is late.
 *
 * Locking: `lock` of the server guards the members under "shared" and the answers of all exchanges.
 * Its holder calls nothing that takes another lock, but for the library's own.
 */
#ifndef AL_SERVE_HTTP_PRIVATE_H
#define AL_SERVE_HTTP_PRIVATE_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "serve/http/address.h"
#include "serve/http/server.h"

/* --- server.c --- */

/** The functions of the library that are used here; each is MHD_<name>(). */
#define AL_HTTP_FUNCTIONS(X)                                                                       \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(quiesce_daemon)                                                                              \
    X(run)                                                                                         \
    X(get_timeout)                                                                                 \
    X(get_daemon_info)                                                                             \
    X(get_connection_info)                                                                         \
    X(get_connection_values_n)                                                                     \
    X(suspend_connection)                                                                          \
    X(resume_connection)                                                                           \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)                                                                            \
    X(get_version)
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member has none. */
#define AL_HTTP_MEMBER(name) __typeof__(&MHD_##name) name;

/** The library, loaded or linked. */
struct al_http_library {
    AL_HTTP_FUNCTIONS(AL_HTTP_MEMBER)
    /** The library is 1.0 or newer, and refuses unusual requests when it is told to. */
    bool strict;
};

/** Load the library once.  `soname` is NULL but in tests.  0 or AL_ERR_NOT_FOUND.  Threads: any. */
int al_http_library_load(const char *soname, const struct al_http_library **ret,
                         struct al_error *err);

/** A socket that listens, and its daemon of the library.  The path of a Unix socket is relative to
 * the working directory if it was given so. */
struct al_http_listening {
    struct al_http_address address; /**< with the real port */
    bool tls;
    int fd;    /**< -1: closed */
    dev_t dev; /**< the file of a Unix socket, to remove no other */
    ino_t ino;

    struct al_http_server *server;
    struct MHD_Daemon *daemon; /**< NULL: not started */
};

/* --- request.c --- */

/** Headers in the order of the request. */
struct al_http_fields {
    struct al_strv names, values;
};

#define AL_HTTP_FIELDS_INIT                                                                        \
    ((struct al_http_fields){ .names = AL_STRV_INIT, .values = AL_STRV_INIT })

struct al_http_server {
    atomic_size_t refs;
    /* do not change once the thread runs */
    const struct al_http_library *library;
    struct al_http_limits limits;
    const struct al_http_handler *handler;
    void *payload;
    size_t listener_count;
    int epoll_fd, wake_fd;
    pthread_t thread;
    bool has_thread;

    /* of the HTTP thread */
    struct al_http_listening *listening;    /**< one for each listener */
    struct al_http_connection *connections; /**< all, also the lingering ones */
    bool has_resumed;                       /**< a connection, so the library has to run */
    bool is_quiet;                          /**< nobody is listened to any more */

    /* shared */
    atomic_bool drains, stops;
    pthread_mutex_t lock;
    pthread_cond_t changed; /**< `count` became 0 */
    size_t count;           /**< connections; only the HTTP thread changes it */
};

/** References keep the lock for exchanges that outlive the server. */
struct al_http_server *al_http_server_ref(struct al_http_server *server);
void al_http_server_unref(struct al_http_server *server);

/** Have the HTTP thread look at its flags and at all exchanges.  The caller has the lock. */
void al_http_server_wake(struct al_http_server *server);

enum al_http_phase {
    AL_HTTP_IDLE,      /**< no request has begun */
    AL_HTTP_READING,   /**< a request has begun */
    AL_HTTP_WAITING,   /**< it is complete, the answer is not there */
    AL_HTTP_WRITING,   /**< the response is under way */
    AL_HTTP_LINGERING, /**< the library has closed it; what the client still sends is dropped */
};

/** A connection.  All of it belongs to the HTTP thread. */
struct al_http_connection {
    struct al_http_server *server;
    struct al_http_connection *prev, *next;
    struct MHD_Connection *library; /**< NULL while lingering */
    int fd;                         /**< the library's; while lingering our own */
    size_t listener;
    char peer[AL_ADDRESS_TEXT_BYTES]; /**< "" on a Unix socket */
    uint64_t key;                     /**< al_http_set_key() */

    enum al_http_phase phase;
    int64_t since_ms; /**< when the phase began, or the library last took some of a response */
    bool suspended;
    bool yielded;     /**< it was found waiting once; the next time it is suspended */
    bool half_closed; /**< the client sends nothing more */
    bool cut;         /**< it was shut down, and will be closed */

    char *target;      /**< of the request whose headers are read, as sent */
    const char *start; /**< where it is in the library's buffer; only compared */
    struct al_http_exchange *exchange;
};

/** Begin a phase. */
void al_http_connection_enter(struct al_http_connection *connection, enum al_http_phase phase);

/** Tell the handler that the client is gone, if that is so and news. */
void al_http_connection_tell_gone(struct al_http_connection *connection);

/** Have the library forget it until there is an answer, or more of one. */
void al_http_connection_suspend(struct al_http_connection *connection);

/* --- request.c --- */

/** The progress of a request. */
enum al_http_stage { AL_HTTP_HEADERS, AL_HTTP_BODY, AL_HTTP_COMPLETE };

/** One request and its response.  Those under "connection" belong to the HTTP thread; those under
 * "request" do not change once the handler has seen them complete. */
struct al_http_exchange {
    atomic_size_t refs;
    struct al_http_server *server; /**< referenced */
    void *data;                    /**< the handler's */

    /* request */
    struct al_http_request request;
    struct al_http_fields fields;
    char *target; /**< cut at '?' */
    struct al_str body;

    /* connection */
    struct al_http_connection *connection; /**< NULL once the response is out or lost */
    enum al_http_stage stage;
    bool for_handler; /**< on_headers was called, so on_end will be */
    bool told_gone;   /**< on_gone was called */
    bool responding;  /**< the library has the response */
    bool too_large;   /**< a chunked body went over the limit; the rest is dropped */
    bool close;       /**< the connection ends with the response */

    /* answer: under the lock of the server */
    bool answered; /**< status and headers are there */
    bool stream;
    bool ended;            /**< no more comes: the whole body is in `out` */
    bool aborted;          /**< close the connection */
    bool over;             /**< the response is out or lost: nothing is taken any more */
    int64_t not_before_ms; /**< al_http_delay() */
    unsigned status;
    struct al_http_fields headers;
    struct al_str out; /**< body, or what of a stream waits */
    size_t out_sent;   /**< bytes of `out` that the library took */
};

/** The library's call with the target, not yet taken apart (MHD_OPTION_URI_LOG_CALLBACK). */
void *al_http_on_target(void *server, const char *target, struct MHD_Connection *library);

/** Leaves percent signs as they are (MHD_OPTION_UNESCAPE_CALLBACK). */
size_t al_http_on_unescape(void *server, struct MHD_Connection *library, char *text);

/** The headers, each piece of the body, the end of the request, and again when a connection was
 * resumed (MHD_AccessHandlerCallback). */
enum MHD_Result al_http_on_request(void *server, struct MHD_Connection *library, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_len, void **context);

/** The response is out or lost (MHD_OPTION_NOTIFY_COMPLETED). */
void al_http_on_completed(void *argument, struct MHD_Connection *library, void **context,
                          enum MHD_RequestTerminationCode code);

#endif
