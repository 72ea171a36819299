// SPDX-License-Identifier: Apache-2.0
#include "http/loop.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

#define SONAME  "libmicrohttpd.so.12"
#define PACKAGE "libmicrohttpd12"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct al_http_library library; /* under `lock` until it is there */

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
    int r = 0;

    pthread_mutex_lock(&lock);
    if (!library.get_version || soname) {
        r = find(soname, &found, err);
        if (r == 0) {
            found.strict = found.get_version()[0] != '0';
            library = found;
        }
    }
    pthread_mutex_unlock(&lock);
    if (r == 0)
        *ret = &library;
    return r;
}

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

/* What is in the way of a Unix socket is removed if it is a socket on which nobody listens. */
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
    struct sockaddr_storage socket = { .ss_family = AF_UNSPEC };
    const struct al_http_address *address = &listening->address;
    socklen_t len = sizeof(socket);

    if (set_flag(listening->fd, SOL_SOCKET, SO_REUSEADDR) < 0 ||
        (address->family == AF_INET6 && set_flag(listening->fd, IPPROTO_IPV6, IPV6_V6ONLY) < 0) ||
        bind(listening->fd, (const struct sockaddr *)&address->socket, address->socket_len) < 0 ||
        getsockname(listening->fd, (struct sockaddr *)&socket, &len) < 0) {
        int errno_value = errno;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        al_http_address_print(address, &text);
        return al_error_errno(err, errno_value, "cannot listen on %s", text.buf);
    }
    al_http_address_from(&socket, len, &listening->address);
    return 0;
}

int al_http_listening_open(const struct al_http_address *address, bool tls,
                           struct al_http_listening *ret, struct al_error *err)
{
    struct al_http_listening listening = { .address = *address, .tls = tls };
    int r;

    listening.fd = socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listening.fd < 0)
        return al_error_errno(err, errno, "cannot make a socket");
    r = address->family == AF_UNIX ? bind_unix(&listening, err) : bind_ip(&listening, err);
    if (r == 0 && listen(listening.fd, SOMAXCONN) < 0)
        r = al_error_errno(err, errno, "cannot listen on '%s'", address->host);
    if (r < 0) {
        al_http_listening_close(&listening);
        return r;
    }
    *ret = listening;
    return 0;
}

void al_http_listening_close(struct al_http_listening *listening)
{
    struct stat st;

    if (listening->fd < 0)
        return;
    if (listening->ino && lstat(listening->address.host, &st) == 0 && st.st_dev == listening->dev &&
        st.st_ino == listening->ino)
        unlink(listening->address.host);
    al_close(al_take_fd(&listening->fd));
}

#define EVENTS   64
#define RETRY_MS 100 /* when there is no descriptor for a new connection */

/* A client that takes nothing of a plain answer for this long may go when others need room. */
#define UNREAD_MS 1000

#define TOO_MANY                                                                                   \
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\n"                  \
    "Connection: close\r\n\r\n"

/* The server whose thread this is. */
static _Thread_local const struct al_http_server *own_server;

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
    free(server->watched);
    free(server->listening);
    free(server);
}

void al_http_server_wake(struct al_http_server *server)
{
    const uint64_t one = 1;
    ssize_t r;

    do {
        r = write(server->wake_fd, &one, sizeof(one));
    } while (r < 0 && errno == EINTR);
}

void al_http_server_ready(struct al_http_exchange *exchange)
{
    struct al_http_server *server = exchange->server;

    if (exchange->in_ready || server->stop)
        return;
    exchange->in_ready = true;
    al_http_ref(exchange);
    if (server->ready_last)
        server->ready_last->next_ready = exchange;
    else
        server->ready_first = exchange;
    server->ready_last = exchange;
    if (own_server != server)
        al_http_server_wake(server);
}

void al_http_server_check_at(struct al_http_server *server, int64_t at_ms)
{
    if (at_ms < server->check_ms)
        server->check_ms = at_ms;
}

int al_http_server_watch(struct al_http_server *server, int fd, uint32_t events, void *source)
{
    struct epoll_event event = { .events = events, .data.ptr = source };

    return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static void set_accepting(struct al_http_server *server, bool accept)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        struct epoll_event event = { .events = accept ? EPOLLIN : 0,
                                     .data.ptr = &server->watched[i] };

        if (server->listening[i].fd >= 0)
            epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, server->listening[i].fd, &event);
    }
}

/* Without a descriptor nothing can be accepted, and the listener stays readable. */
static void pause_accepting(struct al_http_server *server)
{
    server->accept_ms = al_clock_ms() + RETRY_MS;
    set_accepting(server, false);
    al_http_server_check_at(server, server->accept_ms);
}

static void refuse(int fd, bool tls)
{
    if (!tls)
        send(fd, TOO_MANY, strlen(TOO_MANY), MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    al_close(fd);
}

/* Whether a connection may be closed to make room: it has no key, and its client waits for nothing
 * but a refusal. */
static bool may_go(struct al_http_connection *connection, int64_t now_ms)
{
    if (connection->key || connection->cut)
        return false;
    switch (connection->phase) {
    case AL_HTTP_NEW:
    case AL_HTTP_IDLE:
    case AL_HTTP_READING:
    case AL_HTTP_LINGERING:
        return true;
    case AL_HTTP_WAITING: /* for the delay of an answer, or for the answer */
        return connection->exchange && al_http_exchange_due_ms(connection->exchange) != INT64_MAX;
    case AL_HTTP_WRITING:
        return connection->exchange && !connection->exchange->stream &&
               now_ms - connection->since_ms >= UNREAD_MS;
    }
    return false;
}

/* Cut the oldest connection that may go.  False: there is none.  It is closed in this turn or the
 * next, so that the connections are only for a moment more than may be. */
static bool make_room(struct al_http_server *server)
{
    struct al_http_connection *oldest = NULL;
    int64_t now_ms = al_clock_ms();

    for (struct al_http_connection *c = server->connections; c; c = c->next)
        if (may_go(c, now_ms) && (!oldest || c->since_ms <= oldest->since_ms))
            oldest = c;
    if (oldest)
        al_http_connection_cut_later(oldest);
    return oldest != NULL;
}

static void accept_some(struct al_http_server *server, size_t index)
{
    struct al_http_listening *listening = &server->listening[index];

    for (int i = 0; i < AL_HTTP_ACCEPTS && listening->fd >= 0; i++) {
        struct sockaddr_storage name = { .ss_family = listening->address.family };
        socklen_t len = sizeof(name);
        int fd =
            accept4(listening->fd, (struct sockaddr *)&name, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        struct al_http_address peer;

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0 && errno != EAGAIN)
            pause_accepting(server);
        if (fd < 0)
            return;
        al_http_address_from(&name, len, &peer);
        if (server->count >= server->limits.connections && !make_room(server))
            refuse(fd, listening->tls);
        else
            al_http_connection_open(server, fd, index, &peer);
    }
}

static void handle_event(struct al_http_server *server, const struct epoll_event *event)
{
    const enum al_http_source *source = event->data.ptr;
    uint64_t count;

    switch (*source) {
    case AL_HTTP_SOURCE_WAKE:
        while (read(server->wake_fd, &count, sizeof(count)) < 0 && errno == EINTR)
            ;
        break;
    case AL_HTTP_SOURCE_LISTENER:
        accept_some(server, ((const struct al_http_watched *)event->data.ptr)->index);
        break;
    case AL_HTTP_SOURCE_CONNECTION:
        al_http_connection_event(event->data.ptr, event->events);
        break;
    case AL_HTTP_SOURCE_DAEMON: /* each turn runs it */
        break;
    }
}

/* An answer came, or more of a stream. */
static void handle_ready(struct al_http_server *server)
{
    for (;;) {
        struct al_http_exchange *exchange;
        struct al_http_connection *connection;
        bool aborted;
        int64_t at_ms;

        pthread_mutex_lock(&server->lock);
        exchange = server->ready_first;
        if (exchange) {
            server->ready_first = exchange->next_ready;
            if (!server->ready_first)
                server->ready_last = NULL;
            exchange->next_ready = NULL;
            exchange->in_ready = false;
            aborted = exchange->aborted;
            at_ms = exchange->not_before_ms;
        }
        pthread_mutex_unlock(&server->lock);
        if (!exchange)
            return;
        connection = exchange->connection;
        if (connection && aborted)
            al_http_connection_cut(connection);
        else if (connection && (exchange->responding || at_ms <= al_clock_ms()))
            al_http_connection_resume(connection);
        else if (connection)
            al_http_server_check_at(server, at_ms);
        al_http_unref(exchange);
    }
}

static void close_listeners(struct al_http_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (server->listening[i].fd >= 0)
            epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, server->listening[i].fd, NULL);
        al_http_listening_close(&server->listening[i]);
    }
}

static void drain(struct al_http_server *server)
{
    struct al_http_connection *next;

    server->draining = true;
    close_listeners(server);
    for (struct al_http_connection *c = server->connections; c; c = next) {
        next = c->next;
        if (c->phase == AL_HTTP_NEW || c->phase == AL_HTTP_IDLE)
            al_http_connection_cut(c);
    }
}

static void handle_flags(struct al_http_server *server)
{
    bool quiesce;

    pthread_mutex_lock(&server->lock);
    quiesce = server->quiesce;
    server->stopping = server->stop;
    pthread_mutex_unlock(&server->lock);
    if (quiesce && !server->draining)
        drain(server);
}

static void handle_deadlines(struct al_http_server *server)
{
    int64_t now_ms = al_clock_ms();
    struct al_http_connection *next;

    if (now_ms < server->check_ms)
        return;
    server->check_ms = INT64_MAX;
    if (server->accept_ms && now_ms >= server->accept_ms) {
        server->accept_ms = 0;
        set_accepting(server, true);
    } else if (server->accept_ms) {
        al_http_server_check_at(server, server->accept_ms);
    }
    for (struct al_http_connection *c = server->connections; c; c = next) {
        next = c->next;
        al_http_server_check_at(server, al_http_connection_check(c, now_ms));
    }
}

static int wait_ms(struct al_http_server *server)
{
    int64_t left_ms;

    for (size_t i = 0; i < AL_HTTP_DAEMONS; i++) {
        MHD_UNSIGNED_LONG_LONG ms;

        if (server->daemons[i] && server->library->get_timeout(server->daemons[i], &ms) == MHD_YES)
            return 0;
    }
    if (server->check_ms == INT64_MAX)
        return -1;
    left_ms = server->check_ms - al_clock_ms();
    return left_ms <= 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void finish(struct al_http_server *server)
{
    struct al_http_connection *next;

    close_listeners(server);
    handle_ready(server);
    for (struct al_http_connection *c = server->connections; c; c = next) {
        next = c->next;
        if (c->library)
            al_http_connection_resume(c); /* the library refuses to stop with a suspended one */
        else
            al_http_connection_free(c);
    }
    for (size_t i = 0; i < AL_HTTP_DAEMONS; i++)
        if (server->daemons[i])
            server->library->stop_daemon(server->daemons[i]);
}

void *al_http_loop_run(void *argument)
{
    struct al_http_server *server = argument;
    struct epoll_event events[EVENTS];

    own_server = server;
    pthread_setname_np(pthread_self(), "http");
    while (!server->stopping) {
        int count = epoll_wait(server->epoll_fd, events, EVENTS, wait_ms(server));

        for (int i = 0; i < count; i++)
            handle_event(server, &events[i]);
        handle_flags(server);
        handle_ready(server);
        for (size_t i = 0; i < AL_HTTP_DAEMONS; i++)
            if (server->daemons[i])
                server->library->run(server->daemons[i]);
        handle_ready(server); /* what the handler answered meanwhile */
        handle_deadlines(server);
    }
    finish(server);
    return NULL;
}
