// SPDX-License-Identifier: Apache-2.0
/*
 * The HTTP thread: waits for sockets, deadlines and answers, and lets the library run.  For the
 * room only.
 *
 * One epoll set holds the listeners, every connection, and the library's own epoll descriptor (or
 * two: a daemon of the library has TLS for all of its connections or for none).
 *
 * Locking: `lock` guards the members under "shared" and the answers of all exchanges.  It is a
 * leaf: with it nothing is called that takes another lock.
 */
#ifndef AL_HTTP_LOOP_H
#define AL_HTTP_LOOP_H

#include <pthread.h>
#include <stdatomic.h>

#include "http/address.h"
#include "http/connection.h"
#include "http/exchange.h"
#include "http/server.h"
#include "util/error.h"
#include <microhttpd.h>
#include <stdbool.h>
#include <sys/types.h>

/** The functions of the library that are used here; each is MHD_<name>(). */
#define AL_HTTP_FUNCTIONS(X)                                                                       \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(run)                                                                                         \
    X(get_timeout)                                                                                 \
    X(get_daemon_info)                                                                             \
    X(add_connection)                                                                              \
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

/** A socket that listens.  The path of a Unix socket is relative to the working directory if it was
 * given so. */
struct al_http_listening {
    struct al_http_address address; /**< with the real port */
    bool tls;
    int fd;    /**< not blocking; -1: closed */
    dev_t dev; /**< the file of a Unix socket, to remove no other */
    ino_t ino;
};

/** Accepted at one listener before others are looked at.  For each of them another connection may
 * have been cut that the library has not closed yet. */
#define AL_HTTP_ACCEPTS 64

/** A listener, or a daemon of the library, in the epoll set. */
struct al_http_watched {
    enum al_http_source source;
    size_t index;
};

/** Daemons of the library: index into `daemons`. */
enum { AL_HTTP_PLAIN, AL_HTTP_TLS, AL_HTTP_DAEMONS };

struct al_http_server {
    atomic_size_t refs;
    /* do not change once the thread runs */
    const struct al_http_library *library;
    struct al_http_limits limits;
    const struct al_http_handler *handler;
    void *payload;
    size_t listener_count;
    struct al_http_watched *watched; /**< one for each listener */
    struct al_http_watched wake, watched_daemons[AL_HTTP_DAEMONS];
    struct MHD_Daemon *daemons[AL_HTTP_DAEMONS]; /**< NULL: not needed */
    int epoll_fd, wake_fd;
    pthread_t thread;
    bool has_thread;

    /* of the HTTP thread */
    struct al_http_listening *listening;    /**< one for each listener */
    struct al_http_connection *connections; /**< all, also the lingering ones */
    struct al_http_connection *accepting;   /**< the one that the library is being given */
    size_t count;                           /**< of `connections` */
    int64_t check_ms;                       /**< when to look at the deadlines */
    int64_t accept_ms;                      /**< when to accept again; 0: now */
    bool draining, stopping;

    /* shared */
    pthread_mutex_t lock;
    pthread_cond_t changed; /**< `open` became 0 */
    struct al_http_exchange *ready_first, *ready_last;
    size_t open; /**< connections */
    bool quiesce, stop;
};

/** References keep lock and descriptors for exchanges that outlive the server. */
struct al_http_server *al_http_server_ref(struct al_http_server *server);
void al_http_server_unref(struct al_http_server *server);

/** Have the HTTP thread look at an exchange.  The caller has the lock. */
void al_http_server_ready(struct al_http_exchange *exchange);

/** Have the HTTP thread look at its flags.  The caller has the lock or is the thread. */
void al_http_server_wake(struct al_http_server *server);

/** Look at the deadlines at `at_ms` at the latest.  Threads: the HTTP thread. */
void al_http_server_check_at(struct al_http_server *server, int64_t at_ms);

/** Put a descriptor into the epoll set.  0 or a negative errno. */
int al_http_server_watch(struct al_http_server *server, int fd, uint32_t events, void *source);

/** What the thread runs; the argument is the server. */
void *al_http_loop_run(void *argument);

/** Listen.  See al_http_server_new() for Unix sockets.  0 or AL_ERR_EXECUTION. */
int al_http_listening_open(const struct al_http_address *address, bool tls,
                           struct al_http_listening *ret, struct al_error *err);

/** Close the socket, and remove the file of a Unix socket if it is still that file.  Again:
 * nothing. */
void al_http_listening_close(struct al_http_listening *listening);

/** Load the library once.  `soname` is NULL but in tests.  0 or AL_ERR_NOT_FOUND.  Threads: any. */
int al_http_library_load(const char *soname, const struct al_http_library **ret,
                         struct al_error *err);

#endif
