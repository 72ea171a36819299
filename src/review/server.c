// SPDX-License-Identifier: Apache-2.0
#include "review/server.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/utf8.h"
#include "proc/reaper.h"
#include "review/message.h"
#include "review/place.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

/* A longer line of ancestors is not believed. */
#define DEPTH_MAX 256

static bool is_this_program(pid_t pid)
{
    struct stat own, other;
    char path[40];

    (void)snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static bool is_server(pid_t pid, int dir_fd)
{
    char name[40];

    (void)snprintf(name, sizeof(name), "%ld.sock", (long)pid);
    return pid == getpid() || faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
           is_this_program(pid);
}

static const char *check_ancestors(pid_t peer, int dir_fd)
{
    pid_t pid = al_pid_parent(peer);

    for (int depth = 0; depth < DEPTH_MAX; depth++, pid = al_pid_parent(pid)) {
        if (pid > 0 && is_server(pid, dir_fd))
            return "a program that an airlock server started cannot answer its questions";
        if (!pid) /* the first process, or one that was put into this container */
            return NULL;
        if (pid < 0)
            return "the processes above this one cannot be looked at";
    }
    return "too many processes lie above this one";
}

const char *al_review_peer_check(int fd, int dir_fd)
{
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t len = sizeof(peer), pidfd_len = sizeof(int);
    al_auto(al_closep) int pidfd = -1;
    const char *why;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.uid != geteuid())
        return "the questions are another user's";
    if (peer.pid <= 0)
        return "the process lies in another container";
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &pidfd_len) < 0)
        pidfd = -1;
    why = check_ancestors(peer.pid, dir_fd);
    /* Had the peer ended, its number could be another process's by now. */
    if (!why && pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
        return "the process has ended";
    return why;
}

struct al_review_connection *al_review_connection_new(struct al_review_queue *queue,
                                                      const struct al_review_page *page, int fd)
{
    struct al_review_connection *connection = al_calloc(1, sizeof(*connection));

    connection->queue = queue;
    connection->page = page;
    connection->fd = fd;
    connection->in = AL_STR_INIT;
    connection->out = AL_STR_INIT;
    return connection;
}

void al_review_connection_free(struct al_review_connection *connection)
{
    if (connection->attached)
        al_review_detach(connection->queue);
    al_close(connection->fd);
    al_str_clear(&connection->in);
    al_str_clear(&connection->out);
    free(connection->text_of);
    free(connection);
}

static bool has_output(const struct al_review_connection *connection)
{
    return connection->nsent < connection->out.len;
}

/* Refuse the peer: say why, then end. */
static void review_connection_refuse(struct al_review_connection *connection, const char *why)
{
    al_review_add_reply("error", why, 0, &connection->out);
    connection->ends = true;
}

/* Write what the peer takes.  False: it is gone. */
static bool flush(struct al_review_connection *connection)
{
    while (has_output(connection)) {
        const ssize_t n = send(connection->fd, connection->out.buf + connection->nsent,
                               connection->out.len - connection->nsent, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return errno == EAGAIN;
        connection->nsent += n > 0 ? (size_t)n : 0;
    }
    al_str_clear(&connection->out);
    connection->nsent = 0;
    return true;
}

static void answer(struct al_review_connection *connection, const struct al_review_request *request)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const int r =
        al_review_answer(connection->queue, request->id, request->decision, request->reason, &err);

    const char *why = r == AL_ERR_NOT_FOUND ? request->id : r < 0 ? err.message : NULL;

    al_review_add_reply(r == 0                  ? "ok"
                        : r == AL_ERR_NOT_FOUND ? "gone"
                                                : "error",
                        why, request->ticket, &connection->out);
}

static void ask_text(struct al_review_connection *connection,
                     const struct al_review_request *request)
{
    if (connection->text_of) {
        al_review_add_reply("error", "another text is on its way; ask for one after the other",
                            request->ticket, &connection->out);
        return;
    }
    connection->text_of = al_strdup(request->id);
    connection->text_ticket = request->ticket;
}

static void add_link(struct al_review_connection *connection, int64_t ticket)
{
    const struct al_review_page *page = connection->page;
    char *link = page->make_link ? page->make_link(page->payload) : NULL;

    al_review_add_reply(link ? "link" : "error", link ? link : "this process serves no review page",
                        ticket, &connection->out);
    if (link)
        explicit_bzero(link, strlen(link));
    free(link);
}

static void serve(struct al_review_connection *connection, const char *line, size_t len)
{
    struct al_review_request request;
    const char *problem = NULL;

    if (!al_review_request_read(line, len, &request, &problem)) {
        review_connection_refuse(connection, problem);
    } else if (request.verb == AL_REVIEW_ANSWER) {
        answer(connection, &request);
    } else if (request.verb == AL_REVIEW_WHOLE) {
        ask_text(connection, &request);
    } else if (request.verb == AL_REVIEW_LINK) {
        add_link(connection, request.ticket);
    } else {
        connection->lists = true;
        if (!connection->attached)
            connection->from = 0;
        if (request.verb == AL_REVIEW_ATTACH && !connection->attached)
            al_review_attach(connection->queue);
        connection->attached |= request.verb == AL_REVIEW_ATTACH;
    }
    al_review_request_clear(&request);
}

/* Serve the next request that is complete.  False: there is none. */
static bool serve_next(struct al_review_connection *connection)
{
    const char *end = memchr(connection->in.buf, '\n', connection->in.len);
    const size_t len = end ? (size_t)(end - connection->in.buf) : connection->in.len;
    struct al_str rest = AL_STR_INIT;

    if (len > AL_REVIEW_REQUEST_MAX_BYTES) {
        review_connection_refuse(connection, "the request is too long");
        return true;
    }
    if (!end)
        return false;
    serve(connection, connection->in.buf, len);
    al_str_add(&rest, end + 1, connection->in.len - len - 1);
    al_str_clear(&connection->in);
    connection->in = rest;
    return true;
}

/* Say which questions no longer wait. */
static void add_gone(struct al_review_connection *connection)
{
    size_t kept = 0;

    for (size_t i = 0; i < connection->nshown; i++) {
        if (!al_review_has(connection->queue, connection->shown[i]))
            al_review_add_reply("gone", connection->shown[i], 0, &connection->out);
        else
            memmove(connection->shown[kept++], connection->shown[i], sizeof(connection->shown[i]));
    }
    connection->nshown = kept;
}

static void add_pieces(struct al_review_connection *connection, const struct al_str *text)
{
    size_t at = 0, end;

    do {
        end = at + AL_REVIEW_PIECE_MAX_BYTES;
        end = end < text->len ? al_utf8_floor(text->buf, end) : text->len;
        al_review_add_piece(text->buf + at, end - at, end < text->len, connection->text_ticket,
                            &connection->out);
        at = end;
    } while (at < text->len);
}

/* Add the text that was asked for.  False: it is not there, or none was asked for. */
static bool add_text(struct al_review_connection *connection)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    enum al_review_whole found = AL_REVIEW_WHOLE_COMES;

    if (connection->text_of)
        found = al_review_take_text(connection->queue, connection->text_of, &text);
    if (found == AL_REVIEW_WHOLE_COMES)
        return false;
    if (found == AL_REVIEW_WHOLE_HERE)
        add_pieces(connection, &text);
    else if (found == AL_REVIEW_WHOLE_FAILED)
        al_review_add_reply("error", text.buf, connection->text_ticket, &connection->out);
    else
        al_review_add_reply("gone", connection->text_of, connection->text_ticket, &connection->out);
    free(al_take(&connection->text_of));
    return true;
}

/* Add the next question that was not sent, or the end of the list.  False: nothing is due. */
static bool add_next(struct al_review_connection *connection)
{
    uint64_t serial;

    if (connection->attached)
        add_gone(connection);
    if (has_output(connection) || add_text(connection))
        return true;
    /* A further one is told, when all that fit are shown, after that which is gone. */
    if ((connection->lists || connection->attached) && connection->nshown < AL_REVIEW_ENTRIES_MAX &&
        al_review_next(connection->queue, connection->from, &connection->out, &serial,
                       connection->shown[connection->nshown])) {
        connection->from = serial + 1;
        connection->nshown += connection->attached;
        return true;
    }
    if (!connection->lists)
        return false;
    connection->lists = false;
    al_str_adds(&connection->out, "{\"end\":true}\n");
    return true;
}

/* Read once.  False: the peer is gone. */
static bool fill(struct al_review_connection *connection)
{
    char chunk[4096];
    const ssize_t n = recv(connection->fd, chunk, sizeof(chunk), 0);

    if (n > 0)
        al_str_add(&connection->in, chunk, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Reads once, so that a peer that sends without end does not keep others waiting. */
bool al_review_connection_run(struct al_review_connection *connection)
{
    bool was_read = false;

    for (;;) {
        if (!flush(connection))
            return false;
        if (has_output(connection))
            return true; /* nothing more is read before the peer has taken it */
        if (connection->ends)
            return false;
        if (add_next(connection) || serve_next(connection))
            continue;
        if (was_read)
            return true;
        if (!fill(connection))
            return false;
        was_read = true;
    }
}

/* The events that are handled before the thread looks at other things. */
#define EVENTS_MAX 64

struct al_review_server {
    struct al_review_queue *queue;
    int epoll_fd;
    int timer_fd;                             /* the next deadline */
    int listen_fd;                            /* -1: there is no socket */
    struct al_review_connection *connections; /* newest first */
    size_t count;
    struct al_review_page page; /* of al_review_server_set_link() */

    pthread_mutex_t lock; /* guards dir_fd */
    int dir_fd;           /* -1: the socket has no name */
};

static int watch(const struct al_review_server *server, int fd, void *data)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = data };

    return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

struct al_review_server *al_review_server_new(struct al_review_queue *queue)
{
    struct al_review_server *server = al_calloc(1, sizeof(*server));

    server->queue = queue;
    server->listen_fd = server->dir_fd = -1;
    (void)pthread_mutex_init(&server->lock, NULL);
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    server->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (server->epoll_fd < 0 || watch(server, al_review_change_fd(queue), NULL) < 0 ||
        watch(server, server->timer_fd, NULL) < 0) {
        const int error = errno;

        al_review_server_free(server);
        errno = error;
        return NULL;
    }
    return server;
}

static int open_dir(const struct al_strv *dirs, int *ret_fd, struct al_error *err)
{
    int r = AL_ERR_NOT_FOUND;

    for (size_t i = 0; i < dirs->count && r == AL_ERR_NOT_FOUND; i++) {
        if (err)
            al_error_clear(err);
        r = al_review_place_open(dirs->items[i], true, i + 1 == dirs->count, ret_fd, err);
    }
    return r;
}

/* A review has its lock before it looks for sockets, so it comes to this one, however late. */
static bool is_attended(void *payload)
{
    struct al_review_server *server = payload;

    al_hold(&server->lock);
    return server->dir_fd >= 0 && al_review_place_is_attended(server->dir_fd);
}

int al_review_server_listen(struct al_review_server *server, const struct al_strv *dirs,
                            struct al_error *err)
{
    al_auto(al_closep) int dir_fd = -1;
    /* Told once of each client: when no descriptor is left for it, it waits for the next event. */
    struct epoll_event event = { .events = EPOLLIN | EPOLLET };
    int r = open_dir(dirs, &dir_fd, err);

    if (r == 0)
        r = al_review_place_listen(dir_fd, &server->listen_fd, err);
    if (r < 0)
        return r == AL_ERR_NOT_FOUND ? AL_ERR_EXECUTION : r;
    (void)pthread_mutex_lock(&server->lock);
    server->dir_fd = al_take_fd(&dir_fd);
    (void)pthread_mutex_unlock(&server->lock);
    if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, server->listen_fd, &event) < 0)
        return al_error_errno(err, errno, "cannot watch the socket of airlock review");
    al_review_expect(server->queue, is_attended, server);
    return 0;
}

void al_review_server_set_link(struct al_review_server *server, char *(*make_link)(void *payload),
                               void *payload)
{
    server->page = (struct al_review_page){ .make_link = make_link, .payload = payload };
}

int al_review_server_fd(const struct al_review_server *server)
{
    return server->epoll_fd;
}

static void drop(struct al_review_server *server, struct al_review_connection *connection)
{
    struct al_review_connection **at = &server->connections;

    while (*at != connection)
        at = &(*at)->next;
    *at = connection->next;
    server->count--;
    /* Closing it is not enough: a child that is being started has a copy until its execve. */
    (void)epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
    al_review_connection_free(connection);
}

/* Go on with a connection, and wait for what it needs next. */
static void run_one(struct al_review_server *server, struct al_review_connection *connection)
{
    struct epoll_event event = { .data.ptr = connection };

    if (!al_review_connection_run(connection)) {
        drop(server, connection);
        return;
    }
    event.events = has_output(connection) ? EPOLLOUT : EPOLLIN;
    (void)epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, connection->fd, &event);
}

/* The oldest connection that is not attached; NULL: all are. */
static struct al_review_connection *find_idle(const struct al_review_server *server)
{
    struct al_review_connection *found = NULL;

    for (struct al_review_connection *at = server->connections; at; at = at->next)
        found = at->attached ? found : at;
    return found;
}

static void accept_one(struct al_review_server *server, int fd)
{
    struct al_review_connection *connection =
        al_review_connection_new(server->queue, &server->page, fd);
    const char *why = al_review_peer_check(fd, server->dir_fd);

    if (server->count == AL_REVIEW_CONNECTIONS_MAX && find_idle(server))
        drop(server, find_idle(server));
    if (why)
        review_connection_refuse(connection, why);
    else if (server->count == AL_REVIEW_CONNECTIONS_MAX)
        review_connection_refuse(connection, "too many reviews are attached");
    connection->next = server->connections;
    server->connections = connection;
    server->count++;
    if (watch(server, fd, connection) < 0)
        drop(server, connection);
    else
        run_one(server, connection);
}

static void accept_all(struct al_review_server *server)
{
    int fd = 0;

    while (server->listen_fd >= 0 && fd >= 0) {
        fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            accept_one(server, fd);
    }
}

/* Tell the doors what changed, and end what is over. */
static void follow_queue(struct al_review_server *server)
{
    struct itimerspec timer = { .it_value.tv_nsec = 0 };
    struct al_review_connection *next;
    uint64_t count;
    int64_t due_ms;

    (void)!read(al_review_change_fd(server->queue), &count, sizeof(count));
    (void)!read(server->timer_fd, &count, sizeof(count));
    due_ms = al_review_expire(server->queue);
    if (due_ms != INT64_MAX) {
        timer.it_value.tv_sec = due_ms / 1000;
        timer.it_value.tv_nsec = due_ms % 1000 * 1000000;
    }
    (void)timerfd_settime(server->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
    for (struct al_review_connection *at = server->connections; at; at = next) {
        next = at->next;
        if (at->attached || at->text_of)
            run_one(server, at);
    }
}

void al_review_server_run(struct al_review_server *server)
{
    struct epoll_event event;

    /* One event at a time: a connection that is dropped has no further event. */
    for (int i = 0; i < EVENTS_MAX && epoll_wait(server->epoll_fd, &event, 1, 0) == 1; i++) {
        if (event.data.ptr) {
            run_one(server, event.data.ptr);
        } else {
            follow_queue(server);
            accept_all(server);
        }
    }
}

void al_review_server_remove(struct al_review_server *server)
{
    al_hold(&server->lock);
    if (server->dir_fd >= 0)
        al_review_place_remove(server->dir_fd);
}

void al_review_server_free(struct al_review_server *server)
{
    if (!server)
        return;
    al_review_expect(server->queue, NULL, NULL);
    while (server->connections)
        drop(server, server->connections);
    al_review_server_remove(server);
    al_close(server->listen_fd);
    al_close(server->dir_fd);
    al_close(server->timer_fd);
    al_close(server->epoll_fd);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}
