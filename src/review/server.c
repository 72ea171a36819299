// SPDX-License-Identifier: Apache-2.0
#include "review/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "review/connection.h"
#include "review/peer.h"
#include "review/place.h"
#include "util/clock.h"

/* What is handled before the thread looks at other things. */
#define EVENTS_MAX 64

struct al_review_server {
    struct al_review_queue *queue;
    int epoll_fd;
    int change_fd;                            /* eventfd: a question began or ended */
    int timer_fd;                             /* the next deadline */
    int listen_fd;                            /* -1: there is no socket */
    struct al_review_connection *connections; /* newest first */
    size_t count;
    struct al_review_page page; /* of al_review_server_set_link() */
    bool paused;                /* no descriptor was left for a connection: new ones wait */

    pthread_mutex_t lock; /* guards dir_fd */
    int dir_fd;           /* -1: the socket has no name */
};

static void on_change(void *payload)
{
    const struct al_review_server *server = payload;
    const uint64_t one = 1;

    (void)!write(server->change_fd, &one, sizeof(one));
}

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
    server->change_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (server->epoll_fd < 0 || watch(server, server->change_fd, NULL) < 0 ||
        watch(server, server->timer_fd, NULL) < 0) {
        const int error = errno;

        al_review_server_free(server);
        errno = error;
        return NULL;
    }
    al_review_watch(queue, on_change, server);
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
    bool attended;

    (void)pthread_mutex_lock(&server->lock);
    attended = server->dir_fd >= 0 && al_review_place_is_attended(server->dir_fd);
    (void)pthread_mutex_unlock(&server->lock);
    return attended;
}

int al_review_server_listen(struct al_review_server *server, const struct al_strv *dirs,
                            struct al_error *err)
{
    al_auto(al_closep) int dir_fd = -1;
    int r = open_dir(dirs, &dir_fd, err);

    if (r == 0)
        r = al_review_place_listen(dir_fd, &server->listen_fd, err);
    if (r < 0)
        return r == AL_ERR_NOT_FOUND ? AL_ERR_EXECUTION : r;
    (void)pthread_mutex_lock(&server->lock);
    server->dir_fd = al_take_fd(&dir_fd);
    (void)pthread_mutex_unlock(&server->lock);
    if (watch(server, server->listen_fd, NULL) < 0)
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
    event.events = al_review_connection_events(connection);
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
        al_review_connection_refuse(connection, why);
    else if (server->count == AL_REVIEW_CONNECTIONS_MAX)
        al_review_connection_refuse(connection, "too many reviews are attached");
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
    /* Otherwise the descriptor would be ready all the time. */
    if (server->listen_fd >= 0 && (errno == EMFILE || errno == ENFILE))
        server->paused = epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, server->listen_fd, NULL) == 0;
}

/* Tell the doors what changed, and end what is over. */
static void follow_queue(struct al_review_server *server)
{
    struct itimerspec timer = { .it_value.tv_nsec = 0 };
    struct al_review_connection *next;
    uint64_t count;
    int64_t due_ms;

    if (server->paused)
        server->paused = watch(server, server->listen_fd, NULL) < 0;
    (void)!read(server->change_fd, &count, sizeof(count));
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
    (void)pthread_mutex_lock(&server->lock);
    if (server->dir_fd >= 0)
        al_review_place_remove(server->dir_fd);
    (void)pthread_mutex_unlock(&server->lock);
}

void al_review_server_free(struct al_review_server *server)
{
    if (!server)
        return;
    al_review_watch(server->queue, NULL, NULL);
    al_review_expect(server->queue, NULL, NULL);
    while (server->connections)
        drop(server, server->connections);
    al_review_server_remove(server);
    al_close(server->listen_fd);
    al_close(server->dir_fd);
    al_close(server->timer_fd);
    al_close(server->change_fd);
    al_close(server->epoll_fd);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}
