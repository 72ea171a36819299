// SPDX-License-Identifier: Apache-2.0
/* review/server.h: as many questions as may wait are told; a connection is forgotten with all its
 * events, also while a child that is being started has a copy of its descriptor. */
#include "review/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "review/place.h"
#include "review/queue.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

/* Descriptors of the server lie below. */
#define FDS_MAX 64

/* What the server's process is told to do, one byte at a time; it says each back. */
enum { COPY = 'c', END = 'e' };

/* Do what the start of a child does: copy the descriptors of all connections. */
static void copy_connections(void)
{
    for (int fd = 3; fd < FDS_MAX; fd++) {
        int listens = 1;
        socklen_t len = sizeof(listens);

        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && !listens)
            (void)fcntl(fd, F_DUPFD_CLOEXEC, FDS_MAX);
    }
}

static void serve(struct al_review_server *server, int orders_fd)
{
    struct pollfd wait[2] = { { .fd = al_review_server_fd(server), .events = POLLIN },
                              { .fd = orders_fd, .events = POLLIN } };
    char order = 0;

    while (order != END) {
        if (poll(wait, COUNT(wait), -1) < 0)
            _exit(2);
        if (wait[0].revents)
            al_review_server_run(server);
        if (!wait[1].revents)
            continue;
        if (recv(orders_fd, &order, 1, 0) != 1)
            _exit(3);
        if (order == COPY)
            copy_connections();
        (void)send(orders_fd, &order, 1, 0);
    }
}

/* A server in a process of its own: a peer below it would be refused. */
static pid_t start(const char *dir, int *ret_orders_fd)
{
    struct al_review_queue *queue;
    struct al_review_server *server;
    struct al_strv dirs = AL_STRV_INIT;
    int pair[2];
    pid_t pid;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid) {
        al_close(pair[1]);
        *ret_orders_fd = pair[0];
        return pid;
    }
    al_close(pair[0]);
    queue = al_review_queue_new(600);
    server = al_review_server_new(queue);
    al_strv_add(&dirs, dir);
    if (!server || al_review_server_listen(server, &dirs, NULL) < 0)
        _exit(4);
    (void)send(pair[1], "r", 1, 0);
    serve(server, pair[1]);
    al_review_server_free(server);
    al_review_queue_free(queue);
    al_strv_clear(&dirs);
    /* Not _exit(): the leak checker would look for what the parent has allocated. */
    (void)syscall(SYS_exit_group, 0);
    abort();
}

static void order(int orders_fd, char byte)
{
    char answer = 0;

    assert_int_equal(send(orders_fd, &byte, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(orders_fd, &answer, 1, 0), 1);
    assert_int_equal(answer, byte);
}

/* Connect, and get the list, which is empty.  The caller closes the connection. */
static int list(int dir_fd, pid_t pid)
{
    static const char request[] = "{\"do\":\"list\"}\n", answer[] = "{\"end\":true}\n";
    int fd = al_review_place_connect(dir_fd, pid);
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    char text[sizeof(answer)] = "";

    assert_true(fd >= 0);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    assert_int_equal(poll(&ready, 1, -1), 1);
    assert_int_equal(recv(fd, text, strlen(answer), 0), strlen(answer));
    assert_string_equal(text, answer);
    return fd;
}

static void a_closed_connection_has_no_further_event(void **state)
{
    struct tmpdir *top = tmpdir_new();
    al_auto(al_freep) char *dir = tmpdir_path(top, "airlock");
    al_auto(al_closep) int orders_fd = -1, dir_fd = -1;
    const pid_t pid = start(dir, &orders_fd);
    char ready = 0;
    int status = -1;

    (void)state;
    assert_int_equal(recv(orders_fd, &ready, 1, 0), 1);
    assert_int_equal(al_review_place_open(dir, false, false, &dir_fd, NULL), 0);
    for (int i = 0; i < 4; i++) {
        int fd = list(dir_fd, pid);

        order(orders_fd, COPY);
        al_close(fd);
        al_close(list(dir_fd, pid));
    }
    order(orders_fd, END);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(al_review_place_connect(dir_fd, pid), -ENOENT);
    tmpdir_free(top);
}

static void only_a_number_is_a_process(void **state)
{
    static const char *const wrong[] = { "",
                                         ".sock",
                                         "0.sock",
                                         "01.sock",
                                         "-1.sock",
                                         "1.sock2",
                                         "1.soc",
                                         "1",
                                         "a.sock",
                                         "1a.sock",
                                         " 1.sock",
                                         "2147483648.sock",
                                         "99999999999999999999.sock" };

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(al_review_place_owner(wrong[i]), 0);
    assert_int_equal(al_review_place_owner("1.sock"), 1);
    assert_int_equal(al_review_place_owner("2147483647.sock"), 2147483647);
}

/* A server may be a peer; what it started may not. */
static const struct al_review_page no_page = { .make_link = NULL };

static void a_server_itself_may_answer(void **state)
{
    struct tmpdir *top = tmpdir_new();
    al_auto(al_freep) char *dir = tmpdir_path(top, "airlock");
    al_auto(al_freep) char *own = al_asprintf("airlock/%ld.sock", (long)getpid());
    al_auto(al_freep) char *above = al_asprintf("airlock/%ld.sock", (long)getppid());
    al_auto(al_closep) int dir_fd = -1;
    int pair[2];

    (void)state;
    assert_int_equal(al_review_place_open(dir, true, false, &dir_fd, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_null(al_review_peer_check(pair[0], dir_fd));
    tmpdir_write(top, own, "");
    assert_null(al_review_peer_check(pair[0], dir_fd));
    tmpdir_write(top, above, "");
    assert_non_null(al_review_peer_check(pair[0], dir_fd));
    al_close(pair[0]);
    al_close(pair[1]);
    tmpdir_free(top);
}

/* The lines that a door gets when it attaches while so many questions wait. */
static size_t attach(size_t nwaiting)
{
    static const char request[] = "{\"do\":\"attach\"}\n", end[] = "{\"end\":true}\n";
    static struct al_review_entry entries[AL_REVIEW_ENTRIES_MAX];
    static char text[1 << 20];
    const struct al_approval_request asked = { .repository = "/r",
                                               .tool = "t",
                                               .operation = "o",
                                               .summary = "s",
                                               .risk = "low",
                                               .detail = "" };
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    struct al_review_connection *connection;
    size_t len = 0, nlines = 0;
    ssize_t n;
    int pair[2];

    for (size_t i = 0; i < nwaiting; i++)
        assert_true(al_review_begin(queue, &asked, NULL, NULL, &entries[i]));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    connection = al_review_connection_new(queue, &no_page, pair[0]);
    assert_int_equal(send(pair[1], request, strlen(request), 0), strlen(request));
    do {
        assert_true(al_review_connection_run(connection));
        n = recv(pair[1], text + len, sizeof(text) - len, 0);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    assert_true(len >= strlen(end) && !memcmp(text + len - strlen(end), end, strlen(end)));
    for (size_t i = 0; i < len; i++)
        nlines += text[i] == '\n';
    al_review_connection_free(connection);
    for (size_t i = 0; i < nwaiting; i++)
        (void)al_review_end(queue, &entries[i], &answer);
    al_close(pair[1]);
    al_review_queue_free(queue);
    return nlines - 1;
}

static void the_list_has_an_end(void **state)
{
    static const size_t counts[] = { 0, 1, AL_REVIEW_ENTRIES_MAX - 1, AL_REVIEW_ENTRIES_MAX };

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++)
        assert_int_equal(attach(counts[i]), counts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_connection_has_no_further_event),
        cmocka_unit_test(only_a_number_is_a_process),
        cmocka_unit_test(a_server_itself_may_answer),
        cmocka_unit_test(the_list_has_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
