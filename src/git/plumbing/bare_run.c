// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/bare_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/failure.h"
#include "git/run.h"
#include "proc/spawn.h"

#define ERR_MAX_BYTES (64u * 1024u)
#define END_MS        2000 /* time for git to end by itself */
#define POLL_MS       1000 /* the deadline is looked at as often */

/* The error of a child that ended in another way than with exit code 0. */
static int end_badly(const struct al_location *at, const struct al_git_output *output,
                     struct al_error *err)
{
    at->budget->exit_code = output->exit_code;
    return al_git_failed(output, err);
}

/* Give a sink what a file has. */
static int give(int fd, struct al_sink sink)
{
    char piece[65536];
    ssize_t len;

    for (off_t at = 0; (len = pread(fd, piece, sizeof(piece), at)) > 0; at += len)
        if (!sink.add(sink.payload, piece, (size_t)len))
            break;
    return len < 0 ? -errno : 0;
}

/* --- A child that works beside its caller --- */

void al_beside_clear(struct al_beside *beside)
{
    struct al_proc_result result;

    if (beside->child)
        al_running_end(al_take(&beside->child), &result);
    al_closep(&beside->out_fd);
    al_closep(&beside->err_fd);
}

int al_beside_begin(const struct al_location *at, const struct al_git_command *command,
                    struct al_beside *ret_beside, struct al_error *err)
{
    al_auto(al_git_child_clear) struct al_git_child child;
    int r = al_git_child_prepare(at, command, &child, err);

    if (r < 0)
        return r;
    ret_beside->out_fd = memfd_create("list", MFD_CLOEXEC);
    ret_beside->err_fd = memfd_create("messages", MFD_CLOEXEC);
    if (ret_beside->out_fd < 0 || ret_beside->err_fd < 0)
        return al_error_errno(err, errno, "cannot hold a list");
    child.spec.sandbox = &child.sandbox;
    child.spec.out_fd = ret_beside->out_fd;
    child.spec.err_fd = ret_beside->err_fd;
    return al_running_start(&child.spec, &ret_beside->child, err);
}

/* Wait for its end. */
static int wait_for(const struct al_spawned *child, struct al_run_limits *budget,
                    struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    struct pollfd fds[] = {
        { .fd = child->process.pidfd, .events = POLLIN },
        { .fd = al_cancel_fd(budget->cancel), .events = POLLIN },
    };
    int r = 0;

    while (r == 0 && !fds[0].revents) {
        (void)poll(fds, AL_COUNT(fds), POLL_MS);
        r = fds[0].revents ? 0 : al_deadline_check(&deadline, err);
    }
    al_deadline_sync(&deadline);
    return r;
}

int al_beside_end(const struct al_location *at, struct al_beside *beside, struct al_sink sink,
                  struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = {
        .out = AL_TEXT_INIT(0),
        .err = AL_TEXT_INIT(ERR_MAX_BYTES),
    };
    struct al_proc_result result;
    int r = wait_for(beside->child, at->budget, err);

    if (r < 0)
        return r;
    al_running_end(al_take(&beside->child), &result);
    output.exit_code = result.exit_code;
    r = give(output.exit_code ? beside->err_fd : beside->out_fd,
             output.exit_code ? al_git_text_sink(&output.err) : sink);
    if (r < 0)
        return al_error_errno(err, -r, "cannot read a list");
    al_text_end(&output.err);
    return output.exit_code ? end_badly(at, &output, err) : 0;
}

/* --- A child that is fed piece by piece --- */

struct al_fed {
    struct al_spawned *child;
    int in_fd;
};

static int start_fed(const struct al_location *at, const struct al_git_command *command,
                     struct al_fed **ret_fed, struct al_error *err)
{
    al_auto(al_git_child_clear) struct al_git_child child;
    int pipe_fds[2], r = al_git_child_prepare(at, command, &child, err);

    if (r < 0)
        return r;
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return al_error_errno(err, errno, "cannot create a pipe");
    *ret_fed = al_calloc(1, sizeof(**ret_fed));
    (*ret_fed)->in_fd = pipe_fds[1];
    (void)fcntl(pipe_fds[1], F_SETFL, O_NONBLOCK);
    child.spec.sandbox = &child.sandbox;
    child.spec.in_fd = pipe_fds[0];
    r = al_running_start(&child.spec, &(*ret_fed)->child, err);
    al_close(pipe_fds[0]);
    if (r < 0)
        al_fed_end(ret_fed);
    return r;
}

/* False at the end of the stream. */
static bool read_some(int fd, struct al_str *text)
{
    char piece[4096];
    const ssize_t len = read(fd, piece, sizeof(piece));

    if (len > 0)
        al_str_add(text, piece, (size_t)len);
    return len > 0 || (len < 0 && errno == EINTR);
}

/* Write to the child, and read until its output ends as it should.  AL_ERR_AGAIN: it has ended. */
static int converse(const struct al_fed *fed, const struct al_str *input, const char *until,
                    struct al_run_limits *budget, struct al_str *out, struct al_str *said,
                    struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    size_t sent = 0;
    int r = 0;

    while (r == 0 && !al_ends_with(out->buf, until)) {
        struct pollfd fds[] = {
            { .fd = fed->child->out_fd, .events = POLLIN },
            { .fd = fed->child->err_fd, .events = POLLIN },
            { .fd = al_cancel_fd(budget->cancel), .events = POLLIN },
            { .fd = sent < input->len ? fed->in_fd : -1, .events = POLLOUT },
        };
        ssize_t n;

        (void)poll(fds, AL_COUNT(fds), POLL_MS);
        n = fds[3].revents ? write(fed->in_fd, input->buf + sent, input->len - sent) : 0;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            sent = input->len; /* it has ended, and its output says why */
        sent += n > 0 ? (size_t)n : 0;
        if (fds[1].revents)
            (void)read_some(fds[1].fd, said);
        r = fds[0].revents && !read_some(fds[0].fd, out) ? AL_ERR_AGAIN
                                                         : al_deadline_check(&deadline, err);
    }
    al_deadline_sync(&deadline);
    return r;
}

int al_fed_add(const struct al_location *at, const struct al_git_command *command,
               struct al_fed **fed, const struct al_str *input, const char *until,
               struct al_str *ret_output, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = {
        .out = AL_TEXT_INIT(0),
        .err = AL_TEXT_INIT(ERR_MAX_BYTES),
        .exit_code = -1,
    };
    al_auto(al_str_clear) struct al_str said = AL_STR_INIT;
    const size_t len = ret_output->len;
    struct al_proc_result result;
    bool was_there;
    int r;

    if (*fed && (*fed)->in_fd < 0)
        al_fed_end(fed);
    was_there = *fed;
    r = *fed ? 0 : start_fed(at, command, fed, err);
    if (r < 0)
        return r;
    r = converse(*fed, input, until, at->budget, ret_output, &said, err);
    if (r != AL_ERR_AGAIN) {
        if (r < 0)
            al_fed_end(fed);
        return r;
    }
    while (read_some((*fed)->child->err_fd, &said))
        continue;
    (void)al_git_text_sink(&output.err).add(&output.err, said.buf, said.len);
    al_text_end(&output.err);
    al_running_end(al_take(&(*fed)->child), &result);
    al_fed_end(fed);
    if (was_there) { /* it was killed since; another one does as well */
        al_str_truncate(ret_output, len);
        return al_fed_add(at, command, fed, input, until, ret_output, err);
    }
    output.exit_code = result.exit_code;
    return end_badly(at, &output, err);
}

void al_fed_close(struct al_fed *fed)
{
    if (fed)
        al_closep(&fed->in_fd);
}

void al_fed_end(struct al_fed **fed)
{
    struct al_fed *ended = al_take(fed);
    struct al_proc_result result;

    if (!ended)
        return;
    al_fed_close(ended);
    if (ended->child) {
        struct pollfd end = { .fd = ended->child->process.pidfd, .events = POLLIN };

        (void)poll(&end, 1, END_MS);
        al_running_end(ended->child, &result);
    }
    free(ended);
}
