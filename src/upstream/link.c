// SPDX-License-Identifier: Apache-2.0
#include "upstream/link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "guard/root.h"
#include "upstream/limits.h"
#include "upstream/profile.h"
#include "upstream/tools.h"
#include "util/clock.h"

_Static_assert(AL_LINE_MAX_BYTES == 10u << 20, "a message names the limit");

enum { OUT, ERR, PIDFD, WAKE, IN_QUEUED, IN_ROOM, NFDS };

/* --- Start and end --- */

static int start(struct al_upstream_link *link, int in_fd, struct al_error *err)
{
    const struct al_upstream_settings *settings = &link->server->settings;
    al_auto(al_upstream_profile_clear) struct al_upstream_profile profile =
        AL_UPSTREAM_PROFILE_INIT;
    struct al_proc_spec spec;
    const uint64_t entered = al_roots_enter(settings->roots);
    int r = al_upstream_profile_make(settings, &profile, err);

    al_roots_leave(settings->roots, entered);
    if (r < 0)
        return r;
    spec = (struct al_proc_spec){
        .program = profile.program,
        .argv = (const char *const *)settings->command->items,
        .envp = (const char *const *)profile.env.items,
        .cwd_fd = settings->roots->items[0].fd,
        .in_fd = in_fd,
        .sandbox = &profile.sandbox,
        .grace_ms = AL_UPSTREAM_TERM_MS,
        .dies_with_parent = true,
    };
    return al_running_start(&spec, &link->process, err);
}

/* Let calls write to the server.  The writer takes the descriptor over. */
static int open_writer(struct al_upstream *server, int fd, struct al_error *err)
{
    int r;

    (void)pthread_mutex_lock(&server->lock);
    r = al_message_writer_init(&server->out, fd, err);
    server->is_open = r == 0;
    server->in_fd = fd;
    server->has_answered = server->was_ready = false;
    server->nstarts++;
    (void)pthread_mutex_unlock(&server->lock);
    return r;
}

static void close_writer(struct al_upstream *server)
{
    int fd = -1;

    (void)pthread_mutex_lock(&server->lock);
    if (server->is_open) {
        fd = server->in_fd;
        al_message_writer_clear(&server->out);
    }
    server->is_open = false;
    server->phase =
        AL_UPSTREAM_STARTING; /* nobody sends anything until the next process is ready */
    (void)pthread_mutex_unlock(&server->lock);
    al_close(fd);
}

int al_upstream_link_open(struct al_upstream *server, struct al_upstream_link *link,
                          struct al_error *err)
{
    int input[2], r;

    *link = (struct al_upstream_link){ .server = server, .err_fd = -1, .err_line = AL_STR_INIT };
    if (pipe2(input, O_CLOEXEC) < 0)
        return al_error_errno(err, errno, "cannot create a pipe");
    r = start(link, input[0], err);
    al_close(input[0]);
    if (r == 0 && (r = open_writer(server, input[1], err)) < 0) {
        struct al_proc_result ignored;

        al_running_end(link->process, &ignored);
    }
    if (r < 0) {
        al_close(input[1]);
        return r;
    }
    link->reader = AL_READER_INIT(al_running_out_fd(link->process));
    link->err_fd = al_running_err_fd(link->process);
    return 0;
}

/* How the process ended, as a phrase. */
static char *describe_end(const struct al_upstream_link *link, const struct al_proc_result *result)
{
    struct al_str text = AL_STR_INIT;

    if (result->signal)
        al_str_addf(&text, "was ended by signal %d", result->signal);
    else
        al_str_addf(&text, "ended with exit code %d", result->exit_code);
    if (link->last_error)
        al_str_addf(&text, ": %s", link->last_error);
    return al_str_detach(&text);
}

static void drain(struct al_upstream_link *link);

/* Wait for the process to end by itself, without keeping it from writing. */
static void wait_for_end(struct al_upstream_link *link)
{
    const int64_t until_ms = al_clock_ms() + AL_UPSTREAM_EOF_MS;
    int64_t left_ms;

    while (!link->has_ended && (left_ms = until_ms - al_clock_ms()) > 0) {
        struct pollfd fds[] = {
            { .fd = link->reader.ended ? -1 : link->reader.fd, .events = POLLIN },
            { .fd = link->err_fd, .events = POLLIN },
            { .fd = al_running_pidfd(link->process), .events = POLLIN },
        };

        if (poll(fds, AL_COUNT(fds), (int)left_ms) <= 0)
            continue;
        link->has_ended = fds[2].revents != 0;
        drain(link);
    }
}

void al_upstream_link_close(struct al_upstream_link *link, bool gently, char **ret_end)
{
    struct al_proc_result result;

    close_writer(link->server);
    if (gently)
        wait_for_end(link);
    al_running_end(link->process, &result);
    *ret_end = describe_end(link, &result);
    al_reader_clear(&link->reader);
    al_str_clear(&link->err_line);
    free(link->last_error);
    free(link->garbage);
}

/* --- Reading --- */

/* Keep the last line of standard error: it says best why a server ends. */
static void read_errors(struct al_upstream_link *link)
{
    char data[4096];
    ssize_t n = read(link->err_fd, data, sizeof(data));

    if (n == 0 || (n < 0 && errno != EINTR))
        link->err_fd = -1; /* the process keeps the descriptor */
    if (n > 0)
        link->nerrors += (size_t)n;
    for (ssize_t i = 0; i < n; i++) {
        if (data[i] != '\n' && link->err_line.len < AL_UPSTREAM_QUOTED_MAX_BYTES) {
            al_str_addc(&link->err_line, data[i]);
            continue;
        }
        if (data[i] != '\n')
            continue;
        char *line = al_upstream_line(link->err_line.buf, AL_UPSTREAM_QUOTED_MAX_BYTES);

        if (line) {
            free(link->last_error);
            link->last_error = line;
        }
        al_str_reset(&link->err_line);
    }
}

/* Drop what has come, and keep the errors. */
static void drain(struct al_upstream_link *link)
{
    struct pollfd fds[] = {
        { .fd = link->reader.ended ? -1 : link->reader.fd, .events = POLLIN },
        { .fd = link->err_fd, .events = POLLIN },
    };

    if (poll(fds, AL_COUNT(fds), 0) <= 0)
        return;
    if (fds[0].revents) {
        al_reader_fill(&link->reader);
        al_str_reset(&link->reader.buf);
        link->reader.start = link->reader.scanned = 0;
    }
    if (fds[1].revents)
        read_errors(link);
}

/* Handle the whole lines that were read.  False: the link is broken. */
static bool take_lines(struct al_upstream_link *link)
{
    enum al_line got;
    const char *line;
    size_t len;

    while (!link->broken && (got = al_reader_next(&link->reader, &line, &len)) != AL_LINE_NONE) {
        if (got == AL_LINE_READY)
            al_upstream_take_line(link, line, len);
        else
            al_upstream_take_unreadable(link, line, len, "a line of more than 10 MiB");
    }
    return !link->broken;
}

/* The process has ended: handle what the pipes still hold.  What it started may hold their other
 * ends, hence no wait, and may write all the time, hence a limit. */
static void take_rest(struct al_upstream_link *link)
{
    const int64_t until_ms = al_clock_ms() + AL_UPSTREAM_REST_MS;
    struct pollfd out = { .fd = link->reader.fd, .events = POLLIN };

    link->has_ended = true;
    while (!link->reader.ended && al_clock_ms() < until_ms && poll(&out, 1, 0) > 0) {
        al_reader_fill(&link->reader);
        if (!take_lines(link))
            break;
    }
    out.fd = link->err_fd;
    do { /* once in any case: the errors say why the process has ended */
        if (link->err_fd < 0 || poll(&out, 1, 0) <= 0)
            break;
        read_errors(link);
    } while (al_clock_ms() < until_ms);
    if (link->err_line.len) /* a line that has no end */
        link->last_error = link->last_error
                               ? link->last_error
                               : al_upstream_line(link->err_line.buf, AL_UPSTREAM_QUOTED_MAX_BYTES);
}

/* A process that ends closes its output first. */
static void take_end_of_output(struct al_upstream_link *link)
{
    struct pollfd ended = { .fd = al_running_pidfd(link->process), .events = POLLIN };

    if (poll(&ended, 1, AL_UPSTREAM_EXIT_MS) > 0)
        take_rest(link);
    else
        link->broken = "has closed its output";
}

/* Whether standard error has to wait, since too much of it came.  A flood would keep a core busy.
 */
static bool holds_errors(struct al_upstream_link *link)
{
    const int64_t now_ms = al_clock_ms();

    if (now_ms >= link->errors_until_ms) {
        link->nerrors = 0;
        link->errors_until_ms = now_ms + AL_UPSTREAM_ERRORS_PERIOD_MS;
    }
    return link->nerrors >= AL_UPSTREAM_ERRORS_MAX_BYTES;
}

/* The writer as two entries of poll(2): one wakes when something is queued, the other when there is
 * room for it. */
static void watch_writer(struct al_upstream *server, struct pollfd *fds)
{
    (void)pthread_mutex_lock(&server->lock);
    fds[IN_QUEUED] = (struct pollfd){ .fd = server->out.wake_fd, .events = POLLIN };
    fds[IN_ROOM] = (struct pollfd){ .fd = -1, .events = POLLOUT };
    if (al_message_writer_flush(&server->out))
        fds[IN_ROOM].fd = server->out.fd;
    (void)pthread_mutex_unlock(&server->lock);
}

static int time_left_ms(int64_t deadline_ms)
{
    const int64_t left_ms = deadline_ms - al_clock_ms();

    if (deadline_ms == INT64_MAX)
        return -1;
    if (left_ms <= 0)
        return 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

int al_upstream_link_wait(struct al_upstream_link *link, int64_t deadline_ms)
{
    struct pollfd fds[NFDS] = {
        [OUT] = { .fd = link->reader.fd, .events = POLLIN },
        [ERR] = { .fd = link->err_fd, .events = POLLIN },
        [PIDFD] = { .fd = al_running_pidfd(link->process), .events = POLLIN },
        [WAKE] = { .fd = link->server->wake_fd, .events = POLLIN },
    };
    uint64_t ignored;

    if (holds_errors(link)) {
        fds[ERR].fd = -1;
        deadline_ms = deadline_ms < link->errors_until_ms ? deadline_ms : link->errors_until_ms;
    }
    watch_writer(link->server, fds);
    if (poll(fds, NFDS, time_left_ms(deadline_ms)) <= 0)
        return 0;
    if (fds[WAKE].revents)
        return AL_ERR_CANCELLED;
    if (fds[IN_QUEUED].revents)
        (void)!read(fds[IN_QUEUED].fd, &ignored, sizeof(ignored));
    if (fds[ERR].revents)
        read_errors(link);
    if (fds[PIDFD].revents) {
        take_rest(link);
        return AL_ERR_EXECUTION;
    }
    if (!fds[OUT].revents)
        return 0;
    al_reader_fill(&link->reader);
    if (take_lines(link) && !link->reader.ended)
        return 0;
    if (!link->broken)
        take_end_of_output(link);
    return AL_ERR_EXECUTION;
}

/* --- Requests of the link's own --- */

void al_upstream_link_ask(struct al_upstream_link *link, struct al_upstream_request *request,
                          const char *method, const json_t *params)
{
    struct al_upstream *server = link->server;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    (void)pthread_mutex_lock(&server->lock);
    *request = (struct al_upstream_request){ .next = link->requests, .id = ++server->last_id };
    link->requests = request;
    al_upstream_add_request(&line, request->id, method, params);
    (void)al_upstream_send(server, &line);
    (void)pthread_mutex_unlock(&server->lock);
}

void al_upstream_link_forget(struct al_upstream_link *link, struct al_upstream_request *request)
{
    struct al_upstream_request **at = &link->requests;

    while (*at && *at != request)
        at = &(*at)->next;
    if (*at)
        *at = request->next;
    json_decref(request->result);
    json_decref(request->data);
    free(request->message);
    *request = AL_UPSTREAM_REQUEST_INIT;
}

void al_upstream_link_notify(struct al_upstream_link *link, const char *method)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}", method);
    (void)pthread_mutex_lock(&link->server->lock);
    (void)al_upstream_send(link->server, &line);
    (void)pthread_mutex_unlock(&link->server->lock);
}

int al_upstream_link_await(struct al_upstream_link *link, const struct al_upstream_request *a,
                           const struct al_upstream_request *b, int64_t deadline_ms)
{
    int r = 0;

    while (r == 0 && !a->done && !(b && b->done)) {
        if (al_clock_ms() >= deadline_ms)
            return AL_ERR_TIMEOUT;
        r = al_upstream_link_wait(link, deadline_ms);
    }
    return r;
}

int al_upstream_link_late(struct al_upstream_link *link, const char *method, char **ret_problem)
{
    const char *garbage = link->garbage;

    *ret_problem = al_asprintf("did not answer %s within %u ms%s%s", method,
                               (unsigned)link->server->settings.timeout_ms,
                               garbage ? "; it wrote: " : "", garbage ? garbage : "");
    return AL_ERR_TIMEOUT;
}
