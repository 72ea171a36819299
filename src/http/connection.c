// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "http/loop.h"
#include "util/clock.h"

/* A client that lingers is read at most this much at a time, since others wait. */
#define LINGER_READS 16

/* When to look again whether a client that sends no more has been read to its end. */
#define HALF_CLOSED_MS 100

/* A client stalls if this many looks find no progress, whatever the clock says: this thread may
 * have been the one that waited. */
#define STALLED_LOOKS 3

static void set_keepalive(int fd)
{
    const int on = 1;

    /* A client whose machine is gone is found, even on a stream that nothing is sent on. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

static void link_in(struct al_http_connection *connection)
{
    struct al_http_server *server = connection->server;

    connection->next = server->connections;
    if (connection->next)
        connection->next->prev = connection;
    server->connections = connection;
    server->count++;
    pthread_mutex_lock(&server->lock);
    server->open = server->count;
    pthread_mutex_unlock(&server->lock);
}

static void link_out(struct al_http_connection *connection)
{
    struct al_http_server *server = connection->server;

    if (connection->next)
        connection->next->prev = connection->prev;
    if (connection->prev)
        connection->prev->next = connection->next;
    else
        server->connections = connection->next;
    server->count--;
    pthread_mutex_lock(&server->lock);
    server->open = server->count;
    if (!server->open)
        pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

void al_http_connection_open(struct al_http_server *server, int fd, size_t listener,
                             const struct al_http_address *peer)
{
    struct al_http_connection *connection = al_calloc(1, sizeof(*connection));

    connection->source = AL_HTTP_SOURCE_CONNECTION;
    connection->server = server;
    connection->fd = fd;
    connection->listener = listener;
    connection->peer = *peer;
    link_in(connection);
    if (peer->family != AF_UNIX)
        set_keepalive(fd);
    al_http_connection_enter(connection, AL_HTTP_NEW);
    if (al_http_server_watch(server, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, connection) < 0)
        al_http_connection_free(connection);
}

static void hand_over(struct al_http_connection *connection)
{
    struct al_http_server *server = connection->server;
    bool tls = server->listening[connection->listener].tls;

    server->accepting = connection;
    server->library->add_connection(
        server->daemons[tls ? AL_HTTP_TLS : AL_HTTP_PLAIN], connection->fd,
        (const struct sockaddr *)&connection->peer.socket, connection->peer.socket_len);
    /* A refused socket was closed by the library, which then calls nothing. */
    if (server->accepting) {
        server->accepting = NULL;
        connection->fd = -1;
        al_http_connection_free(connection);
    }
}

void al_http_connection_free(struct al_http_connection *connection)
{
    link_out(connection);
    /* A child that has not yet called exec(2) has a copy of the descriptor, and epoll(7) goes on
     * watching what any copy keeps open. */
    if (connection->fd >= 0)
        epoll_ctl(connection->server->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
    al_close(connection->fd);
    free(connection->target);
    free(connection);
}

static void begin_to_linger(struct al_http_connection *connection, int fd)
{
    connection->fd = fd;
    connection->library = NULL;
    al_http_connection_enter(connection, AL_HTTP_LINGERING);
    shutdown(fd, SHUT_WR);
    if (al_http_server_watch(connection->server, fd, EPOLLIN | EPOLLRDHUP, connection) < 0)
        al_http_connection_free(connection);
}

void al_http_connection_closed(struct al_http_connection *connection)
{
    /* Closing a socket with unread bytes resets the connection, and the response that told the
     * client why would be lost. */
    bool linger = !connection->half_closed && !connection->cut && !connection->server->stopping;
    int copy = linger ? fcntl(connection->fd, F_DUPFD_CLOEXEC, 0) : -1;

    epoll_ctl(connection->server->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
    connection->fd = -1;
    if (copy >= 0)
        begin_to_linger(connection, copy);
    else
        al_http_connection_free(connection);
}

/* What the client has been given: bytes that the library took, without those that the kernel still
 * has. */
static uint64_t delivered(const struct al_http_connection *connection)
{
    int waiting = 0;

    if (ioctl(connection->fd, SIOCOUTQ, &waiting) < 0)
        waiting = 0;
    return connection->taken_bytes - (uint64_t)waiting;
}

static int64_t stall_step(const struct al_http_connection *connection)
{
    return connection->server->limits.stall_ms / 4 + 1;
}

/* When a connection is to be looked at that was in its phase since `since_ms`. */
static int64_t deadline(const struct al_http_connection *connection, int64_t now_ms)
{
    const struct al_http_limits *limits = &connection->server->limits;

    switch (connection->phase) {
    case AL_HTTP_NEW:
    case AL_HTTP_IDLE:
        return connection->since_ms + limits->idle_ms;
    case AL_HTTP_READING:
        return connection->since_ms + limits->request_ms;
    case AL_HTTP_WRITING:
        return now_ms + (stall_step(connection) < limits->keep_alive_ms ? stall_step(connection)
                                                                        : limits->keep_alive_ms);
    case AL_HTTP_LINGERING:
        return connection->since_ms + limits->linger_ms;
    case AL_HTTP_WAITING:
        break;
    }
    return INT64_MAX;
}

void al_http_connection_enter(struct al_http_connection *connection, enum al_http_phase phase)
{
    int64_t now_ms = al_clock_ms();

    connection->phase = phase;
    connection->since_ms = now_ms;
    connection->yielded = false;
    connection->unchanged = 0;
    if (phase == AL_HTTP_WRITING)
        connection->progress = delivered(connection);
    al_http_server_check_at(connection->server,
                            connection->half_closed ? now_ms : deadline(connection, now_ms));
}

void al_http_connection_tell_gone(struct al_http_connection *connection)
{
    struct al_http_exchange *exchange = connection->exchange;
    const struct al_http_handler *handler = connection->server->handler;

    if (!connection->half_closed || !exchange || !exchange->for_handler || exchange->told_gone ||
        exchange->stage != AL_HTTP_COMPLETE || !al_http_exchange_wants_client(exchange))
        return;
    exchange->told_gone = true;
    if (handler->on_gone)
        handler->on_gone(connection->server->payload, exchange);
}

void al_http_connection_resume(struct al_http_connection *connection)
{
    if (!connection->suspended)
        return;
    connection->suspended = false;
    connection->server->library->resume_connection(connection->library);
    al_http_server_check_at(connection->server, 0); /* nothing else makes the library run */
}

void al_http_connection_cut(struct al_http_connection *connection)
{
    if (!connection->library) {
        al_http_connection_free(connection);
        return;
    }
    connection->cut = true;
    shutdown(connection->fd, SHUT_RDWR);
    al_http_connection_resume(connection);
}

void al_http_connection_cut_later(struct al_http_connection *connection)
{
    if (connection->library) {
        al_http_connection_cut(connection);
        return;
    }
    connection->cut = true;
    shutdown(connection->fd, SHUT_RDWR); /* which is an event */
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

void al_http_connection_event(struct al_http_connection *connection, uint32_t events)
{
    if (connection->phase == AL_HTTP_LINGERING || (connection->cut && !connection->library)) {
        if (connection->cut || !read_lingering(connection))
            al_http_connection_free(connection);
        return;
    }
    if (connection->phase == AL_HTTP_NEW) {
        connection->half_closed = events & EPOLLRDHUP;
        hand_over(connection);
        return;
    }
    if (connection->phase == AL_HTTP_IDLE && (events & EPOLLIN))
        al_http_connection_enter(connection, AL_HTTP_READING);
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        connection->half_closed = true;
        al_http_server_check_at(connection->server, al_clock_ms());
        al_http_connection_tell_gone(connection);
    }
    /* A client that reads a stream says nothing more, but stays. */
    if ((events & (EPOLLHUP | EPOLLERR)) ||
        ((events & EPOLLRDHUP) && connection->exchange && connection->exchange->responding &&
         connection->exchange->stream))
        al_http_connection_cut(connection);
}

static int64_t check_writing(struct al_http_connection *connection, int64_t now_ms)
{
    uint64_t progress = delivered(connection);

    if (connection->suspended)
        return INT64_MAX;
    if (progress != connection->progress) {
        connection->progress = progress;
        connection->since_ms = now_ms;
        connection->unchanged = 0;
    } else if (++connection->unchanged >= STALLED_LOOKS &&
               now_ms - connection->since_ms >= connection->server->limits.stall_ms) {
        al_http_connection_cut(connection);
    }
    return now_ms + stall_step(connection);
}

/* A stream that waits for more to send. */
static int64_t check_idle_stream(struct al_http_connection *connection, int64_t now_ms)
{
    const int64_t keep_alive_ms = connection->server->limits.keep_alive_ms;
    const char *text =
        connection->exchange ? al_http_exchange_keep_alive(connection->exchange) : NULL;

    if (!text)
        return INT64_MAX;
    if (now_ms < connection->since_ms + keep_alive_ms)
        return connection->since_ms + keep_alive_ms;
    (void)al_http_send(connection->exchange, text, strlen(text));
    al_http_connection_resume(connection);
    return now_ms + keep_alive_ms;
}

static int64_t check_waiting(struct al_http_connection *connection, int64_t now_ms)
{
    int64_t due_ms =
        connection->exchange ? al_http_exchange_due_ms(connection->exchange) : INT64_MAX;

    if (now_ms < due_ms)
        return due_ms;
    al_http_connection_resume(connection);
    return INT64_MAX;
}

/* The library is told once of the end of a client's input, and forgets it if a request came with
 * it. */
static bool is_read_to_its_end(const struct al_http_connection *connection)
{
    int unread = 0;

    return connection->half_closed && ioctl(connection->fd, FIONREAD, &unread) == 0 && !unread;
}

int64_t al_http_connection_check(struct al_http_connection *connection, int64_t now_ms)
{
    int64_t at_ms = deadline(connection, now_ms);

    if (connection->cut)
        return INT64_MAX;
    /* An early answer that is delayed waits before its body was read. */
    if (connection->phase == AL_HTTP_WAITING || connection->suspended)
        return connection->phase == AL_HTTP_WRITING ? check_idle_stream(connection, now_ms)
                                                    : check_waiting(connection, now_ms);
    if (connection->phase == AL_HTTP_WRITING)
        return check_writing(connection, now_ms);
    if (connection->library && is_read_to_its_end(connection)) {
        al_http_connection_cut(connection);
        return INT64_MAX;
    }
    if (now_ms < at_ms)
        return connection->half_closed && at_ms > now_ms + HALF_CLOSED_MS ? now_ms + HALF_CLOSED_MS
                                                                          : at_ms;
    al_http_connection_cut(connection);
    return INT64_MAX;
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
