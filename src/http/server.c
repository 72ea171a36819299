// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "http/loop.h"
#include "http/request.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/secret.h"

/* The library keeps a connection's headers, and what it builds of a response, in memory of this
 * size beyond the limit of the headers. */
#define SPARE_BYTES    ((size_t)16 * 1024)
#define PEM_MAX_BYTES  ((size_t)1024 * 1024)
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

static const struct al_http_limits defaults = {
    .body_bytes = (size_t)4 * 1024 * 1024,
    .header_bytes = (size_t)32 * 1024,
    .connections = 512,
    .connections_of_key = 64,
    .stream_bytes = (size_t)1024 * 1024,
    .request_ms = 60 * 1000,
    .stall_ms = 60 * 1000,
    .idle_ms = 5 * 60 * 1000,
    .linger_ms = 2 * 1000,
    .keep_alive_ms = 25 * 1000,
};

static struct al_http_limits with_defaults(struct al_http_limits limits)
{
    size_t *const sizes[] = { &limits.body_bytes, &limits.header_bytes, &limits.connections,
                              &limits.connections_of_key, &limits.stream_bytes };
    const size_t size_defaults[] = { defaults.body_bytes, defaults.header_bytes,
                                     defaults.connections, defaults.connections_of_key,
                                     defaults.stream_bytes };
    int64_t *const times[] = { &limits.request_ms, &limits.stall_ms, &limits.idle_ms,
                               &limits.linger_ms, &limits.keep_alive_ms };
    const int64_t time_defaults[] = { defaults.request_ms, defaults.stall_ms, defaults.idle_ms,
                                      defaults.linger_ms, defaults.keep_alive_ms };

    for (size_t i = 0; i < AL_COUNT(sizes); i++)
        if (!*sizes[i])
            *sizes[i] = size_defaults[i];
    for (size_t i = 0; i < AL_COUNT(times); i++)
        if (!*times[i])
            *times[i] = time_defaults[i];
    return limits;
}

static struct al_http_server *alloc_server(const struct al_http_options *options)
{
    struct al_http_server *server = al_calloc(1, sizeof(*server));
    pthread_condattr_t monotonic;

    atomic_init(&server->refs, 1);
    server->limits = with_defaults(options->limits);
    server->handler = options->handler;
    server->payload = options->payload;
    server->listener_count = options->listener_count;
    server->listening = al_calloc(options->listener_count, sizeof(*server->listening));
    server->watched = al_calloc(options->listener_count, sizeof(*server->watched));
    for (size_t i = 0; i < options->listener_count; i++)
        server->listening[i].fd = -1;
    server->check_ms = INT64_MAX;
    server->epoll_fd = server->wake_fd = -1;
    pthread_mutex_init(&server->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&server->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return server;
}

static int open_listeners(struct al_http_server *server, const struct al_http_options *options,
                          struct al_error *err)
{
    for (size_t i = 0; i < options->listener_count; i++) {
        int r = al_http_listening_open(&options->listeners[i].address, options->listeners[i].tls,
                                       &server->listening[i], err);

        if (r < 0)
            return r;
    }
    return 0;
}

static int read_pem(const char *path, const char *what, struct al_str *ret_text,
                    struct al_error *err)
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int r = fd < 0 ? -errno : al_fs_read_fd(fd, PEM_MAX_BYTES, ret_text);

    if (r < 0)
        return al_error_set(err, AL_ERR_BAD_ARGS, "cannot read the %s '%s': %s", what,
                            path ? path : "", strerror(-r));
    return 0;
}

static int read_key(const char *path, struct al_str *ret_text, struct al_error *err)
{
    static const struct al_secret_kind kind = {
        .what = "TLS key",
        .leaked = "make a new one if somebody may have read it",
        .max = PEM_MAX_BYTES,
        .may_be_system = true,
    };

    if (!path)
        return al_error_set(err, AL_ERR_BAD_ARGS, "TLS needs a key");
    return al_secret_read(path, path, &kind, ret_text, err);
}

static struct MHD_Daemon *start_daemon(struct al_http_server *server, const char *cert,
                                       const char *key)
{
    struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)cert },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)key },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES },
        { MHD_OPTION_END, 0, NULL },
    };
    struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                     (cert ? MHD_USE_TLS : 0);

    return server->library->start_daemon(
        flags, 0, NULL, NULL, al_http_on_request, server, MHD_OPTION_NOTIFY_CONNECTION,
        al_http_on_connection, server, MHD_OPTION_NOTIFY_COMPLETED, al_http_on_completed, server,
        MHD_OPTION_URI_LOG_CALLBACK, al_http_on_target, server, MHD_OPTION_UNESCAPE_CALLBACK,
        al_http_on_unescape, server, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        server->limits.header_bytes + SPARE_BYTES, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(server->limits.connections + AL_HTTP_ACCEPTS * server->listener_count),
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, cert ? tls : none, MHD_OPTION_END);
}

static int watch_daemon(struct al_http_server *server, size_t index, struct al_error *err)
{
    const union MHD_DaemonInfo *info;
    int r;

    if (!server->daemons[index])
        return al_error_set(err, AL_ERR_EXECUTION, "libmicrohttpd does not start");
    info = server->library->get_daemon_info(server->daemons[index], MHD_DAEMON_INFO_EPOLL_FD);
    server->watched_daemons[index].source = AL_HTTP_SOURCE_DAEMON;
    r = al_http_server_watch(server, info->epoll_fd, EPOLLIN, &server->watched_daemons[index]);
    return r < 0 ? al_error_errno(err, -r, "cannot watch libmicrohttpd") : 0;
}

static int read_tls(const struct al_http_tls *tls, struct al_str *ret_cert, struct al_str *ret_key,
                    struct al_error *err)
{
    int r = read_pem(tls->cert_path, "certificate", ret_cert, err);

    return r < 0 ? r : read_key(tls->key_path, ret_key, err);
}

int al_http_tls_check(const struct al_http_tls *tls, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str cert = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str key = AL_STR_INIT;
    int r = read_tls(tls, &cert, &key, err);

    explicit_bzero(key.buf, key.len);
    return r;
}

static int start_tls(struct al_http_server *server, const struct al_http_tls *tls,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str cert = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str key = AL_STR_INIT;
    int r = read_tls(tls, &cert, &key, err);

    if (r < 0) {
        explicit_bzero(key.buf, key.len);
        return r;
    }
    server->daemons[AL_HTTP_TLS] = start_daemon(server, cert.buf, key.buf);
    explicit_bzero(key.buf, key.len);
    if (!server->daemons[AL_HTTP_TLS])
        return al_error_set(
            err, AL_ERR_BAD_ARGS,
            "certificate '%s' and key '%s' cannot be used; both have to be PEM, and "
            "to belong together",
            tls->cert_path, tls->key_path);
    return watch_daemon(server, AL_HTTP_TLS, err);
}

static int start_daemons(struct al_http_server *server, const struct al_http_options *options,
                         struct al_error *err)
{
    bool plain = false, tls = false;
    int r = 0;

    for (size_t i = 0; i < options->listener_count; i++) {
        tls = tls || options->listeners[i].tls;
        plain = plain || !options->listeners[i].tls;
    }
    if (tls)
        r = start_tls(server, &options->tls, err);
    if (r == 0 && plain) {
        server->daemons[AL_HTTP_PLAIN] = start_daemon(server, NULL, NULL);
        r = watch_daemon(server, AL_HTTP_PLAIN, err);
    }
    return r;
}

static int watch_all(struct al_http_server *server, struct al_error *err)
{
    int r = 0;

    server->wake.source = AL_HTTP_SOURCE_WAKE;
    r = al_http_server_watch(server, server->wake_fd, EPOLLIN, &server->wake);
    for (size_t i = 0; r == 0 && i < server->listener_count; i++) {
        server->watched[i] = (struct al_http_watched){ AL_HTTP_SOURCE_LISTENER, i };
        r = al_http_server_watch(server, server->listening[i].fd, EPOLLIN, &server->watched[i]);
    }
    return r < 0 ? al_error_errno(err, -r, "cannot watch the listening sockets") : 0;
}

/* Signals are for the other threads. */
static int start_thread(struct al_http_server *server, struct al_error *err)
{
    sigset_t all, before;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&server->thread, NULL, al_http_loop_run, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    server->has_thread = r == 0;
    return r ? al_error_errno(err, r, "cannot start the HTTP thread") : 0;
}

static int start(struct al_http_server *server, const struct al_http_options *options,
                 struct al_error *err)
{
    int r = al_http_library_load(NULL, &server->library, err);

    if (r < 0)
        return r;
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->epoll_fd < 0 || server->wake_fd < 0)
        return al_error_errno(err, errno, "cannot watch sockets");
    r = open_listeners(server, options, err);
    if (r == 0)
        r = start_daemons(server, options, err);
    if (r == 0)
        r = watch_all(server, err);
    return r == 0 ? start_thread(server, err) : r;
}

int al_http_server_new(const struct al_http_options *options, struct al_http_server **ret_server,
                       struct al_error *err)
{
    struct al_http_server *server = alloc_server(options);
    int r = start(server, options, err);

    if (r < 0) {
        al_http_server_free(server);
        return r;
    }
    *ret_server = server;
    return 0;
}

const struct al_http_address *al_http_server_address(const struct al_http_server *server,
                                                     size_t index)
{
    return &server->listening[index].address;
}

void al_http_server_quiesce(struct al_http_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->quiesce = true;
    al_http_server_wake(server);
    pthread_mutex_unlock(&server->lock);
}

static struct timespec at(int64_t ms)
{
    return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
}

bool al_http_server_drain(struct al_http_server *server, int64_t wait_ms)
{
    struct timespec until = at(al_clock_ms() + wait_ms);
    bool empty;

    al_http_server_quiesce(server);
    pthread_mutex_lock(&server->lock);
    while (server->open && pthread_cond_timedwait(&server->changed, &server->lock, &until) == 0)
        ;
    empty = !server->open;
    pthread_mutex_unlock(&server->lock);
    return empty;
}

/* What a server that never ran its thread has to give back itself. */
static void stop_without_thread(struct al_http_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++)
        al_http_listening_close(&server->listening[i]);
    for (size_t i = 0; i < AL_HTTP_DAEMONS; i++)
        if (server->daemons[i])
            server->library->stop_daemon(server->daemons[i]);
}

void al_http_server_free(struct al_http_server *server)
{
    if (!server)
        return;
    pthread_mutex_lock(&server->lock);
    server->stop = true;
    if (server->has_thread)
        al_http_server_wake(server);
    pthread_mutex_unlock(&server->lock);
    if (server->has_thread)
        pthread_join(server->thread, NULL);
    else
        stop_without_thread(server);
    al_http_server_unref(server);
}
