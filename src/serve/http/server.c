// SPDX-License-Identifier: Apache-2.0
#include "serve/http/server.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/secret.h"
#include "serve/http/private.h"

/* The library keeps a connection's headers, and what it builds of a response, in memory of this
 * size beyond the limit of the headers. */
#define SPARE_BYTES    ((size_t)16 * 1024)
#define PEM_MAX_BYTES  ((size_t)1024 * 1024)
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

/* Connections of a daemon beyond the limit: they are refused, or others are closed for them. */
#define SPARE_CONNECTIONS 64u

#define EVENTS            64

/* A client that takes nothing of a plain answer for this long may go when others need room. */
#define UNREAD_MS 1000

/* The time, and the bytes at a time, that a refused client is still read: closing a socket
 * with unread bytes resets the connection, and the response that told why would be lost. */
#define LINGER_MS    2000
#define LINGER_READS 16

/* The time until the next look whether a client that sends no more has been read to its end. */
#define HALF_CLOSED_MS 100

/* A comment of server-sent events. */
#define KEEP_ALIVE ":\n\n"

#define TOO_MANY                                                                                   \
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\n"                  \
    "Connection: close\r\n\r\n"

/* --- The library --- */

#define SONAME  "libmicrohttpd.so.12"
#define PACKAGE "libmicrohttpd12"

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static struct al_http_library loaded; /* under `loading` until it is there */

#ifdef AL_LINKED
#define FUNCTION(name) .name = MHD_##name,

/* The program has the library in it.  The caller has the lock. */
static int find(const char *soname, struct al_http_library *ret, struct al_error *err)
{
    (void)soname;
    (void)err;
    *ret = (struct al_http_library){ AL_HTTP_FUNCTIONS(FUNCTION) };
    return 0;
}
#else
#define SYMBOL(name) { "MHD_" #name, offsetof(struct al_http_library, name) },

static const struct {
    const char *name;
    size_t offset;
} symbols[] = { AL_HTTP_FUNCTIONS(SYMBOL) };

static int find_symbols(void *handle, struct al_http_library *ret, struct al_error *err)
{
    for (size_t i = 0; i < AL_COUNT(symbols); i++) {
        void *symbol = dlsym(handle, symbols[i].name);

        if (!symbol)
            return al_error_set(err, AL_ERR_NOT_FOUND,
                                "libmicrohttpd is too old: it has no %s(); install " PACKAGE
                                " 0.9.75 or newer",
                                symbols[i].name);
        memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
    }
    return 0;
}

/* The caller has the lock. */
static int find(const char *soname, struct al_http_library *ret, struct al_error *err)
{
    void *handle = dlopen(soname ? soname : SONAME, RTLD_NOW | RTLD_LOCAL);
    int r;

    if (!handle)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "an HTTP server needs libmicrohttpd; install " PACKAGE " (%s)",
                            dlerror());
    r = find_symbols(handle, ret, err);
    if (r < 0)
        dlclose(handle);
    return r;
}
#endif

int al_http_library_load(const char *soname, const struct al_http_library **ret,
                         struct al_error *err)
{
    struct al_http_library found = { .strict = false };
    int r;

    al_hold(&loading);
    *ret = &loaded;
    if (loaded.get_version && !soname)
        return 0;
    r = find(soname, &found, err);
    if (r < 0)
        return r;
    found.strict = found.get_version()[0] != '0';
    loaded = found;
    return 0;
}

/* --- The sockets that listen --- */

#define SOCKET_MODE 0600

static int set_flag(int fd, int level, int option)
{
    const int on = 1;

    return setsockopt(fd, level, option, &on, sizeof(on));
}

static int connect_to(const struct al_http_address *address)
{
    al_auto(al_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    return connect(fd, (const struct sockaddr *)&address->socket, address->socket_len) < 0 ? -errno
                                                                                           : 0;
}

/* Remove a file in the way of a Unix socket if it is a socket on which nobody listens. */
static int clear_way(const struct al_http_address *address, struct al_error *err)
{
    struct stat before, now;
    int r;

    if (lstat(address->host, &before) < 0)
        return errno == ENOENT ? 0
                               : al_error_errno(err, errno, "cannot look at '%s'", address->host);
    if (!S_ISSOCK(before.st_mode))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' exists and is no socket; choose another path", address->host);
    r = connect_to(address);
    if (r != -ECONNREFUSED)
        return r == 0 || r == -EAGAIN
                   ? al_error_set(err, AL_ERR_EXECUTION,
                                  "another server listens on '%s'; stop it or choose another path",
                                  address->host)
                   : al_error_errno(err, -r, "cannot tell whether '%s' is in use", address->host);
    if (lstat(address->host, &now) < 0 || now.st_dev != before.st_dev ||
        now.st_ino != before.st_ino)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' was replaced meanwhile; start the server again", address->host);
    if (unlink(address->host) < 0 && errno != ENOENT)
        return al_error_errno(err, errno, "cannot remove the dead socket '%s'", address->host);
    return 0;
}

static int bind_unix(struct al_http_listening *listening, struct al_error *err)
{
    const struct al_http_address *address = &listening->address;
    struct stat st;
    int r = clear_way(address, err);

    if (r < 0)
        return r;
    /* The file gets the mode of the socket, so that it is never open to others. */
    if (fchmod(listening->fd, SOCKET_MODE) < 0 ||
        bind(listening->fd, (const struct sockaddr *)&address->socket, address->socket_len) < 0 ||
        lstat(address->host, &st) < 0)
        return al_error_errno(err, errno, "cannot make the socket '%s'", address->host);
    listening->dev = st.st_dev;
    listening->ino = st.st_ino;
    if ((st.st_mode & 07777) != SOCKET_MODE && chmod(address->host, SOCKET_MODE) < 0)
        return al_error_errno(err, errno, "cannot protect the socket '%s'", address->host);
    return 0;
}

static int bind_ip(struct al_http_listening *listening, struct al_error *err)
{
    struct al_http_address *address = &listening->address;
    struct sockaddr_in bound;

    /* A client whose machine is gone is found, even on a stream that nothing is sent on. */
    if (set_flag(listening->fd, SOL_SOCKET, SO_KEEPALIVE) < 0 ||
        set_flag(listening->fd, SOL_SOCKET, SO_REUSEADDR) < 0 ||
        (address->family == AF_INET6 && set_flag(listening->fd, IPPROTO_IPV6, IPV6_V6ONLY) < 0) ||
        bind(listening->fd, (const struct sockaddr *)&address->socket, address->socket_len) < 0 ||
        getsockname(listening->fd, (struct sockaddr *)&address->socket, &address->socket_len) < 0) {
        int errno_value = errno;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        al_http_address_print(address, &text);
        return al_error_errno(err, errno_value, "cannot listen on %s", text.buf);
    }
    memcpy(&bound, &address->socket, sizeof(bound));
    address->port = ntohs(bound.sin_port); /* where sockaddr_in6 has it too */
    return 0;
}

/* Close the socket, and remove the file of a Unix socket if it is still that file.  Again: nothing.
 */
static void close_listening(struct al_http_listening *listening)
{
    struct stat st;

    if (listening->fd < 0)
        return;
    if (listening->ino && lstat(listening->address.host, &st) == 0 && st.st_dev == listening->dev &&
        st.st_ino == listening->ino)
        unlink(listening->address.host);
    al_close(al_take_fd(&listening->fd));
}

/* Take an address, without listening there yet. */
static int open_listening(const struct al_http_address *address, bool tls,
                          struct al_http_listening *ret, struct al_error *err)
{
    struct al_http_listening listening = { .address = *address, .tls = tls };
    int r;

    listening.fd = socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listening.fd < 0)
        return al_error_errno(err, errno, "cannot make a socket");
    r = address->family == AF_UNIX ? bind_unix(&listening, err) : bind_ip(&listening, err);
    if (r < 0) {
        close_listening(&listening);
        return r;
    }
    *ret = listening;
    return 0;
}

/* --- The server --- */

struct al_http_server *al_http_server_ref(struct al_http_server *server)
{
    atomic_fetch_add(&server->refs, 1);
    return server;
}

void al_http_server_unref(struct al_http_server *server)
{
    if (atomic_fetch_sub(&server->refs, 1) != 1)
        return;
    al_close(server->epoll_fd);
    al_close(server->wake_fd);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    free(server->listening);
    free(server);
}

void al_http_server_wake(struct al_http_server *server)
{
    (void)eventfd_write(server->wake_fd, 1);
}

/* A source of NULL has no event of its own: each turn runs the daemons.  0 or a negative errno. */
static int watch(struct al_http_server *server, int fd, uint32_t events, void *source)
{
    struct epoll_event event = { .events = events, .data.ptr = source };

    return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* --- Connections --- */

static void link_in(struct al_http_connection *connection)
{
    struct al_http_server *server = connection->server;

    connection->next = server->connections;
    if (connection->next)
        connection->next->prev = connection;
    server->connections = connection;
    al_hold(&server->lock);
    server->count++;
}

static void free_connection(struct al_http_connection *connection)
{
    struct al_http_server *server = connection->server;

    if (connection->next)
        connection->next->prev = connection->prev;
    if (connection->prev)
        connection->prev->next = connection->next;
    else
        server->connections = connection->next;
    al_close(connection->fd);
    free(connection->target);
    free(connection);
    al_hold(&server->lock);
    if (--server->count == 0)
        pthread_cond_broadcast(&server->changed);
}

void al_http_connection_enter(struct al_http_connection *connection, enum al_http_phase phase)
{
    connection->phase = phase;
    connection->since_ms = al_clock_ms();
    connection->yielded = false;
}

void al_http_connection_suspend(struct al_http_connection *connection)
{
    connection->suspended = true;
    connection->server->library->suspend_connection(connection->library);
}

static void resume(struct al_http_connection *connection)
{
    if (!connection->suspended)
        return;
    connection->suspended = false;
    connection->server->library->resume_connection(connection->library);
    connection->server->has_resumed = true;
}

/* Close it as soon as the library runs, or with the next event while it lingers. */
static void cut(struct al_http_connection *connection)
{
    connection->cut = true;
    shutdown(connection->fd, SHUT_RDWR);
    resume(connection);
}

/* Whether a connection may be closed to make room: it has no key, and its client waits for nothing
 * but a refusal. */
static bool may_go(struct al_http_connection *connection, int64_t now_ms)
{
    const struct al_http_exchange *exchange = connection->exchange;
    bool may = false;

    if (connection->key || connection->cut)
        return false;
    al_hold(&connection->server->lock);
    switch (connection->phase) {
    case AL_HTTP_IDLE:
    case AL_HTTP_READING:
    case AL_HTTP_LINGERING:
        may = true;
        break;
    case AL_HTTP_WAITING: /* for the delay of an answer, or for the answer */
        may = exchange && exchange->answered;
        break;
    case AL_HTTP_WRITING:
        may = exchange && !exchange->stream && now_ms - connection->since_ms >= UNREAD_MS;
        break;
    }
    return may;
}

/* Cut the oldest connection that may go for another one.  False: there is none.  It is closed in
 * this turn or the next, so that the connections are only for a moment more than may be. */
static bool make_room(struct al_http_server *server, const struct al_http_connection *other)
{
    struct al_http_connection *oldest = NULL;
    int64_t now_ms = al_clock_ms();

    for (struct al_http_connection *c = server->connections; c; c = c->next)
        if (c != other && may_go(c, now_ms) && (!oldest || c->since_ms <= oldest->since_ms))
            oldest = c;
    if (oldest)
        cut(oldest);
    return oldest != NULL;
}

/* Clients of a Unix socket have no name. */
static void read_peer(struct al_http_connection *connection, sa_family_t family)
{
    const union MHD_ConnectionInfo *info = connection->server->library->get_connection_info(
        connection->library, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const size_t at = family == AF_INET ? offsetof(struct sockaddr_in, sin_addr)
                                        : offsetof(struct sockaddr_in6, sin6_addr);

    if (family != AF_UNIX)
        (void)inet_ntop(family, (const char *)info->client_addr + at, connection->peer,
                        sizeof(connection->peer));
}

static struct al_http_connection *open_connection(struct al_http_listening *listening,
                                                  struct MHD_Connection *library)
{
    struct al_http_server *server = listening->server;
    struct al_http_connection *connection = al_calloc(1, sizeof(*connection));

    connection->server = server;
    connection->library = library;
    connection->fd =
        server->library->get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD)
            ->connect_fd;
    connection->listener = (size_t)(listening - server->listening);
    read_peer(connection, listening->address.family);
    link_in(connection);
    al_http_connection_enter(connection, AL_HTTP_IDLE);
    if (watch(server, connection->fd, EPOLLIN | EPOLLRDHUP | EPOLLET, connection) < 0) {
        cut(connection);
    } else if (server->count > server->limits.connections && !make_room(server, connection)) {
        if (!listening->tls)
            send(connection->fd, TOO_MANY, strlen(TOO_MANY), MSG_DONTWAIT | MSG_NOSIGNAL);
        cut(connection);
    }
    return connection;
}

/* The library has closed it: linger, or release it. */
static void close_connection(struct al_http_connection *connection)
{
    struct al_http_server *server = connection->server;
    const bool linger = !connection->half_closed && !connection->cut && !server->stops;
    const int copy = linger ? fcntl(connection->fd, F_DUPFD_CLOEXEC, 0) : -1;

    /* A child that has not yet called exec(2) has a copy of the descriptor, and epoll(7) goes on
     * watching what any copy keeps open. */
    epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
    connection->fd = copy;
    connection->library = NULL;
    al_http_connection_enter(connection, AL_HTTP_LINGERING);
    if (copy >= 0)
        shutdown(copy, SHUT_WR);
    if (copy < 0 || watch(server, copy, EPOLLIN | EPOLLRDHUP, connection) < 0)
        free_connection(connection);
}

/* A connection began or was closed (MHD_OPTION_NOTIFY_CONNECTION). */
static void on_connection(void *argument, struct MHD_Connection *library, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_CLOSED)
        close_connection(*context);
    else
        *context = open_connection(argument, library);
}

/* Whether there is no answer yet, or a stream that goes on. */
static bool wants_client(struct al_http_exchange *exchange)
{
    al_hold(&exchange->server->lock);
    return !exchange->answered || (exchange->stream && !exchange->ended);
}

void al_http_connection_tell_gone(struct al_http_connection *connection)
{
    struct al_http_exchange *exchange = connection->exchange;
    const struct al_http_handler *handler = connection->server->handler;

    if (!connection->half_closed || !exchange || !exchange->for_handler || exchange->told_gone ||
        exchange->stage != AL_HTTP_COMPLETE || !wants_client(exchange))
        return;
    exchange->told_gone = true;
    if (handler->on_gone)
        handler->on_gone(connection->server->payload, exchange);
}

/* Whether the client still has something to say. */
static bool read_lingering(const struct al_http_connection *connection)
{
    char bytes[16 * 1024];

    for (int i = 0; i < LINGER_READS; i++) {
        ssize_t len = recv(connection->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

        if (len <= 0)
            return len < 0 && (errno == EAGAIN || errno == EINTR);
    }
    return true;
}

static void handle_event(struct al_http_connection *connection, uint32_t events)
{
    const struct al_http_exchange *exchange = connection->exchange;

    if (connection->phase == AL_HTTP_LINGERING) {
        if (read_lingering(connection))
            return;
        epoll_ctl(connection->server->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
        free_connection(connection);
        return;
    }
    if (connection->phase == AL_HTTP_IDLE && (events & EPOLLIN))
        al_http_connection_enter(connection, AL_HTTP_READING);
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        connection->half_closed = true;
        al_http_connection_tell_gone(connection);
    }
    /* A client that reads a stream says nothing more, but stays. */
    if ((events & (EPOLLHUP | EPOLLERR)) ||
        ((events & EPOLLRDHUP) && exchange && exchange->responding && exchange->stream))
        cut(connection);
}

/* --- What is due --- */

/* All functions of this part expect the caller to hold the lock, and return when to look again;
 * INT64_MAX: after the next event. */

/* A suspended connection goes on when there is an answer, or more of a stream. */
static int64_t check_suspended(struct al_http_connection *connection,
                               struct al_http_exchange *exchange, int64_t now_ms)
{
    const int64_t alive_ms = connection->since_ms + connection->server->limits.keep_alive_ms;

    if (!exchange->responding) {
        if (exchange->answered && exchange->not_before_ms <= now_ms)
            resume(connection);
        return exchange->answered ? exchange->not_before_ms : INT64_MAX;
    }
    if (exchange->ended || exchange->out_sent < exchange->out.len) {
        resume(connection);
    } else if (now_ms >= alive_ms) { /* a stream, as all that has no end yet */
        al_str_adds(&exchange->out, KEEP_ALIVE);
        resume(connection);
    }
    return connection->suspended ? alive_ms : INT64_MAX;
}

/* The library is told once of the end of a client's input, and forgets it if a request came with
 * it. */
static bool is_read_to_its_end(const struct al_http_connection *connection)
{
    int unread = 0;

    return connection->half_closed && ioctl(connection->fd, FIONREAD, &unread) == 0 && !unread;
}

static int64_t check(struct al_http_connection *connection, int64_t now_ms)
{
    const int64_t request_ms = connection->server->limits.request_ms;
    struct al_http_exchange *exchange = connection->exchange;
    int64_t until_ms = INT64_MAX;

    if (connection->cut)
        return INT64_MAX;
    if (exchange && exchange->aborted) {
        cut(connection);
        return INT64_MAX;
    }
    if (connection->suspended) /* in whatever phase: an early answer may be delayed */
        return check_suspended(connection, exchange, now_ms);
    if (connection->phase == AL_HTTP_READING)
        until_ms = connection->since_ms + request_ms;
    else if (connection->phase == AL_HTTP_LINGERING)
        until_ms = connection->since_ms + LINGER_MS;
    else if (connection->phase != AL_HTTP_IDLE)
        return INT64_MAX;
    if (now_ms >= until_ms || (connection->library && is_read_to_its_end(connection))) {
        cut(connection);
        return INT64_MAX;
    }
    return connection->half_closed && until_ms > now_ms + HALF_CLOSED_MS ? now_ms + HALF_CLOSED_MS
                                                                         : until_ms;
}

static int64_t check_all(struct al_http_server *server)
{
    const int64_t now_ms = al_clock_ms();
    int64_t next_ms = INT64_MAX;

    al_hold(&server->lock);
    for (struct al_http_connection *c = server->connections; c; c = c->next) {
        const int64_t at_ms = check(c, now_ms);

        next_ms = at_ms < next_ms ? at_ms : next_ms;
    }
    return next_ms;
}

/* --- The thread --- */

static void close_listeners(struct al_http_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        struct al_http_listening *listening = &server->listening[i];

        if (listening->daemon && listening->fd >= 0) /* which would close it otherwise */
            (void)server->library->quiesce_daemon(listening->daemon);
        close_listening(listening);
    }
}

static void quiesce(struct al_http_server *server)
{
    if (!server->drains || server->is_quiet)
        return;
    server->is_quiet = true;
    close_listeners(server);
    for (struct al_http_connection *c = server->connections; c; c = c->next)
        if (c->phase == AL_HTTP_IDLE)
            cut(c);
}

static int wait_ms(struct al_http_server *server, int64_t next_ms)
{
    int64_t left_ms = next_ms == INT64_MAX ? INT_MAX : next_ms - al_clock_ms();

    if (server->has_resumed || left_ms <= 0)
        return 0;
    for (size_t i = 0; i < server->listener_count; i++) {
        MHD_UNSIGNED_LONG_LONG ms;

        if (server->library->get_timeout(server->listening[i].daemon, &ms) == MHD_YES &&
            ms < (MHD_UNSIGNED_LONG_LONG)left_ms)
            left_ms = (int64_t)ms;
    }
    return left_ms >= INT_MAX ? -1 : (int)left_ms;
}

static void turn(struct al_http_server *server, int64_t *next_ms)
{
    struct epoll_event events[EVENTS];
    const int count = epoll_wait(server->epoll_fd, events, EVENTS, wait_ms(server, *next_ms));
    eventfd_t ignored;

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == server)
            (void)eventfd_read(server->wake_fd, &ignored);
        else if (events[i].data.ptr)
            handle_event(events[i].data.ptr, events[i].events);
    }
    quiesce(server);
    server->has_resumed = false;
    for (size_t i = 0; i < server->listener_count; i++)
        server->library->run(server->listening[i].daemon);
    *next_ms = check_all(server);
}

/* Close what is open.  The library refuses to stop with a suspended connection. */
static void finish(struct al_http_server *server)
{
    struct al_http_connection *next;

    close_listeners(server);
    for (struct al_http_connection *c = server->connections; c; c = next) {
        next = c->next;
        if (c->library)
            resume(c);
        else
            free_connection(c);
    }
    for (size_t i = 0; i < server->listener_count; i++)
        if (server->listening[i].daemon)
            server->library->stop_daemon(server->listening[i].daemon);
}

static void *thread_main(void *argument)
{
    struct al_http_server *server = argument;
    int64_t next_ms = INT64_MAX;

    pthread_setname_np(pthread_self(), "http");
    while (!server->stops)
        turn(server, &next_ms);
    finish(server);
    return NULL;
}

/* --- From start to end --- */

static struct al_http_limits with_defaults(struct al_http_limits limits)
{
    limits.body_bytes = limits.body_bytes ? limits.body_bytes : (size_t)4 * 1024 * 1024;
    limits.header_bytes = limits.header_bytes ? limits.header_bytes : (size_t)32 * 1024;
    limits.connections = limits.connections ? limits.connections : 512;
    limits.connections_of_key = limits.connections_of_key ? limits.connections_of_key : 64;
    limits.stream_bytes = limits.stream_bytes ? limits.stream_bytes : (size_t)1024 * 1024;
    limits.request_ms = limits.request_ms ? limits.request_ms : 60 * 1000;
    limits.stall_s = limits.stall_s ? limits.stall_s : 60;
    limits.keep_alive_ms = limits.keep_alive_ms ? limits.keep_alive_ms : 25 * 1000;
    return limits;
}

static struct al_http_server *alloc_server(const struct al_http_options *options)
{
    struct al_http_server *server = al_calloc(1, sizeof(*server));

    atomic_init(&server->refs, 1);
    server->limits = with_defaults(options->limits);
    server->handler = options->handler;
    server->payload = options->payload;
    server->listener_count = options->listener_count;
    server->listening = al_calloc(options->listener_count, sizeof(*server->listening));
    for (size_t i = 0; i < options->listener_count; i++)
        server->listening[i].fd = -1;
    server->epoll_fd = server->wake_fd = -1;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    return server;
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

/* TLS needs `cert`. */
static struct MHD_Daemon *start_daemon(struct al_http_listening *listening, const char *cert,
                                       const char *key)
{
    struct al_http_server *server = listening->server;
    struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)cert },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)key },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES },
        { MHD_OPTION_END, 0, NULL },
    };
    struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (cert ? MHD_USE_TLS : 0);

    return server->library->start_daemon(
        flags, 0, NULL, NULL, al_http_on_request, server, MHD_OPTION_LISTEN_SOCKET, listening->fd,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, listening, MHD_OPTION_NOTIFY_COMPLETED,
        al_http_on_completed, server, MHD_OPTION_URI_LOG_CALLBACK, al_http_on_target, server,
        MHD_OPTION_UNESCAPE_CALLBACK, al_http_on_unescape, server,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, server->limits.header_bytes + SPARE_BYTES,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)server->limits.connections + SPARE_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, server->limits.stall_s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_ARRAY, cert ? tls : none, MHD_OPTION_END);
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

static int open_daemon(struct al_http_listening *listening, const struct al_http_tls *tls,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str cert = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str key = AL_STR_INIT;
    int r = listening->tls ? read_tls(tls, &cert, &key, err) : 0;

    if (r == 0)
        listening->daemon = start_daemon(listening, listening->tls ? cert.buf : NULL, key.buf);
    explicit_bzero(key.buf, key.len);
    if (r < 0 || listening->daemon)
        return r;
    if (!listening->tls)
        return al_error_set(err, AL_ERR_EXECUTION, "libmicrohttpd does not start");
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "certificate '%s' and key '%s' cannot be used; both have to be PEM, and "
                        "to belong together",
                        tls->cert_path, tls->key_path);
}

static int open_listener(struct al_http_server *server, struct al_http_listening *listening,
                         const struct al_http_listener *listener, const struct al_http_tls *tls,
                         struct al_error *err)
{
    const union MHD_DaemonInfo *info;
    int r = open_listening(&listener->address, listener->tls, listening, err);

    listening->server = server;
    if (r == 0)
        r = open_daemon(listening, tls, err);
    if (r < 0)
        return r;
    info = server->library->get_daemon_info(listening->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    r = watch(server, info->epoll_fd, EPOLLIN, NULL);
    return r < 0 ? al_error_errno(err, -r, "cannot watch libmicrohttpd") : 0;
}

static int prepare(struct al_http_server *server, const struct al_http_options *options,
                   struct al_error *err)
{
    int r = al_http_library_load(NULL, &server->library, err);

    if (r < 0)
        return r;
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->epoll_fd < 0 || server->wake_fd < 0 ||
        watch(server, server->wake_fd, EPOLLIN, server) < 0)
        return al_error_errno(err, errno, "cannot watch sockets");
    for (size_t i = 0; r == 0 && i < options->listener_count; i++)
        r = open_listener(server, &server->listening[i], &options->listeners[i], &options->tls,
                          err);
    return r;
}

int al_http_server_new(const struct al_http_options *options, struct al_http_server **ret_server,
                       struct al_error *err)
{
    struct al_http_server *server = alloc_server(options);
    int r = prepare(server, options, err);

    if (r < 0) {
        al_http_server_free(server);
        return r;
    }
    *ret_server = server;
    return 0;
}

/* Signals are for the other threads. */
int al_http_server_start(struct al_http_server *server, struct al_error *err)
{
    sigset_t all, before;
    int r;

    for (size_t i = 0; i < server->listener_count; i++)
        if (listen(server->listening[i].fd, SOMAXCONN) < 0) {
            al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

            r = errno;
            al_http_address_print(&server->listening[i].address, &text);
            return al_error_errno(err, r, "cannot listen on %s", text.buf);
        }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&server->thread, NULL, thread_main, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    server->has_thread = r == 0;
    return r ? al_error_errno(err, r, "cannot start the HTTP thread") : 0;
}

const struct al_http_address *al_http_server_address(const struct al_http_server *server,
                                                     size_t index)
{
    return &server->listening[index].address;
}

bool al_http_server_drain(struct al_http_server *server, int64_t wait_ms)
{
    const int64_t end_ms = al_clock_ms() + wait_ms;
    const struct timespec end = { .tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000 };

    server->drains = true;
    al_http_server_wake(server);
    al_hold(&server->lock);
    while (server->count &&
           pthread_cond_clockwait(&server->changed, &server->lock, CLOCK_MONOTONIC, &end) == 0)
        ;
    return !server->count;
}

void al_http_server_free(struct al_http_server *server)
{
    if (!server)
        return;
    server->stops = true;
    al_http_server_wake(server);
    if (server->has_thread)
        pthread_join(server->thread, NULL);
    else
        finish(server);
    al_http_server_unref(server);
}

bool al_http_set_key(struct al_http_exchange *exchange, uint64_t key)
{
    struct al_http_connection *connection = exchange->connection;
    size_t count = 0;

    if (!connection || connection->key == key)
        return true;
    for (struct al_http_connection *c = exchange->server->connections; key && c; c = c->next)
        count += c->key == key;
    if (key && count >= exchange->server->limits.connections_of_key)
        return false;
    connection->key = key;
    return true;
}
