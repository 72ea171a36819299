// SPDX-License-Identifier: Apache-2.0
#include "proc/capture.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "util/clock.h"

#define READ_BYTES (64u * 1024u)

/*
 * `git log` flushes after each commit.  Waking up for every one of them costs both sides more than
 * the work itself, so after a small piece others are left to gather for a moment: less than a pipe
 * holds comes in that time, and the child's end still wakes us at once.  A piece of the size of
 * stdio's buffer is from a program that does not flush; what it says is worked on while it goes on.
 */
#define STDIO_BYTES 4096
#define COALESCE_MS 1

enum { OUT, ERR, PIDFD, CANCEL, NFDS };

struct al_capture al_capture_begin(const struct al_proc_spec *spec, const struct al_spawned *child)
{
    return (struct al_capture){
        .sinks = { &spec->out, &spec->err },
        .fds = { child->out_fd, child->err_fd },
        .pidfd = child->process.pidfd,
        .cancel_fd = al_cancel_fd(spec->cancel),
        .drains = spec->drains,
        .deadline_ms = al_clock_ms() + spec->timeout_ms,
    };
}

/* Hands bytes to a stream's sink; false when the child must stop because of it. */
static bool offer(struct al_capture *capture, int stream, const char *data, size_t len)
{
    const struct al_sink *sink = capture->sinks[stream];

    if (!sink->add || capture->full[stream])
        return true;
    if (sink->add(sink->payload, data, len))
        return true;
    capture->full[stream] = stream == ERR || capture->drains;
    return capture->full[stream];
}

/* One read of a stream poll() spoke about; false when the child must stop. */
static bool read_once(struct al_capture *capture, int stream)
{
    char data[READ_BYTES];
    ssize_t got = read(capture->fds[stream], data, sizeof(data));

    if (got > 0 && stream == OUT)
        capture->small_reads = got < STDIO_BYTES;
    if (got > 0)
        return offer(capture, stream, data, (size_t)got);
    if (got == 0 || errno != EINTR)
        capture->fds[stream] = -1; /* the descriptor is its owner's to close */
    return true;
}

/* Reads whatever is ready of both streams; false when the child must stop. */
static bool read_ready(struct al_capture *capture, const struct pollfd *fds)
{
    for (int stream = OUT; stream <= ERR; stream++) {
        if (fds[stream].revents && !read_once(capture, stream))
            return false;
    }
    return true;
}

static int time_left_ms(const struct al_capture *capture)
{
    int64_t left = capture->deadline_ms - al_clock_ms();

    if (left <= 0)
        return 0;
    return left < INT_MAX ? (int)left : INT_MAX;
}

/* Lets pieces gather; what ends the waiting is looked at by the caller's own poll(). */
static void coalesce(struct al_capture *capture)
{
    struct pollfd fds[] = {
        { .fd = capture->pidfd, .events = POLLIN },
        { .fd = capture->cancel_fd, .events = POLLIN },
    };

    if (capture->small_reads)
        (void)poll(fds, 2, COALESCE_MS);
    capture->small_reads = false;
}

enum al_ending al_capture_wait(struct al_capture *capture)
{
    for (;;) {
        coalesce(capture);

        struct pollfd fds[NFDS] = {
            [OUT] = { .fd = capture->fds[OUT], .events = POLLIN },
            [ERR] = { .fd = capture->fds[ERR], .events = POLLIN },
            [PIDFD] = { .fd = capture->pidfd, .events = POLLIN },
            [CANCEL] = { .fd = capture->cancel_fd, .events = POLLIN },
        };
        int left_ms = time_left_ms(capture);
        int ready = poll(fds, NFDS, left_ms);

        if (ready > 0 && fds[PIDFD].revents)
            return AL_ENDING_EXIT;
        if (ready > 0 && fds[CANCEL].revents)
            return AL_ENDING_CANCELLED;
        if (ready > 0 && !read_ready(capture, fds))
            return AL_ENDING_STOPPED;
        if (left_ms == 0)
            return AL_ENDING_TIMEOUT;
    }
}

bool al_capture_rest(struct al_capture *capture)
{
    for (;;) {
        struct pollfd fds[] = {
            [OUT] = { .fd = capture->fds[OUT], .events = POLLIN },
            [ERR] = { .fd = capture->fds[ERR], .events = POLLIN },
        };

        if ((capture->fds[OUT] < 0 && capture->fds[ERR] < 0) || poll(fds, 2, 0) <= 0)
            return true;
        if (!read_ready(capture, fds))
            return false;
    }
}
