// SPDX-License-Identifier: Apache-2.0
#include "base/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"

/*
 * Choose how to write without blocking.  O_NONBLOCK may not be set, because the open file
 * description is shared with the parent process.  A socket has MSG_DONTWAIT.  A pipe is opened
 * again, which gives a description of our own.  Anything else is polled before a small write.
 */
static void choose_method(struct al_message_writer *out)
{
    struct stat st;

    if (fstat(out->fd, &st) < 0)
        return;
    out->is_socket = S_ISSOCK(st.st_mode);
    out->poll_first = !out->is_socket;
    if (S_ISFIFO(st.st_mode)) {
        al_auto(al_freep) char *path = al_asprintf("/proc/self/fd/%d", out->fd);

        out->owned_fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    }
    if (out->owned_fd >= 0) {
        out->fd = out->owned_fd;
        out->poll_first = false;
    }
}

static void sink_send(struct al_message_sink *sink, struct al_str *line)
{
    al_message_writer_send((struct al_message_writer *)sink, line);
}

static void sink_answer(struct al_message_sink *sink, const struct al_rpc_answer *answer)
{
    if (answer->line)
        al_message_writer_send((struct al_message_writer *)sink, answer->line);
}

int al_message_writer_init(struct al_message_writer *out, int fd, struct al_error *err)
{
    *out = (struct al_message_writer){
        .sink = { .send = sink_send, .answer = sink_answer },
        .fd = fd,
        .owned_fd = -1,
        .queue = AL_STR_INIT,
        .poll_first = true,
    };
    out->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&out->lock, NULL);
    if (out->wake_fd < 0) {
        int r = al_error_errno(err, errno, "cannot create an event descriptor");

        al_message_writer_clear(out);
        return r;
    }
    choose_method(out);
    return 0;
}

void al_message_writer_clear(struct al_message_writer *out)
{
    al_close(al_take_fd(&out->owned_fd));
    al_close(al_take_fd(&out->wake_fd));
    al_str_clear(&out->queue);
    (void)pthread_mutex_destroy(&out->lock);
}

/* One write: the bytes written; 0: no room; -1: the other end is closed. */
static ssize_t write_once(struct al_message_writer *out, const char *data, size_t len)
{
    struct pollfd ready = { .fd = out->fd, .events = POLLOUT };
    ssize_t n;

    do {
        if (out->is_socket) {
            n = send(out->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        } else if (out->poll_first) {
            if (poll(&ready, 1, 0) == 0)
                return 0;
            n = write(out->fd, data, len < PIPE_BUF ? len : PIPE_BUF);
        } else {
            n = write(out->fd, data, len);
        }
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
    return n;
}

/* Caller holds the lock.  The bytes written; fewer than `len`: no room, or the output is dead. */
static size_t write_some(struct al_message_writer *out, const char *data, size_t len)
{
    size_t done = 0;

    while (done < len && !out->dead) {
        ssize_t n = write_once(out, data + done, len - done);

        if (n == 0)
            break;
        if (n < 0) {
            out->dead = true;
            (void)eventfd_write(out->wake_fd, 1);
        } else {
            done += (size_t)n;
        }
    }
    return done;
}

/* A sender writes by itself what there is room for: left to another thread, an answer of 160 kB
 * takes 4 % longer. */
void al_message_writer_send(struct al_message_writer *out, struct al_str *line)
{
    size_t done = 0;

    al_str_addc(line, '\n');
    al_hold(&out->lock);
    if (out->queue.len == 0)
        done = write_some(out, line->buf, line->len);
    if (done < line->len && !out->dead) {
        if (out->queue.len == 0)
            (void)eventfd_write(out->wake_fd, 1);
        al_str_add(&out->queue, line->buf + done, line->len - done);
    }
}

/* Drop written bytes once they are more than the queued ones, so that each byte is moved at most
 * once: a slow client may never let the queue run empty. */
static void drop_sent(struct al_message_writer *out)
{
    size_t queued = out->queue.len - out->sent;

    if (out->sent <= queued)
        return;
    memmove(out->queue.buf, out->queue.buf + out->sent, queued);
    al_str_truncate(&out->queue, queued);
    out->sent = 0;
}

bool al_message_writer_flush(struct al_message_writer *out)
{
    bool more;

    al_hold(&out->lock);
    out->sent += write_some(out, out->queue.buf + out->sent, out->queue.len - out->sent);
    more = out->sent < out->queue.len && !out->dead;
    if (!more) {
        al_str_clear(&out->queue);
        out->sent = 0;
    }
    drop_sent(out);
    return more;
}

static size_t queued_bytes(struct al_message_writer *out)
{
    al_hold(&out->lock);
    return out->queue.len - out->sent;
}

void al_message_writer_drain(struct al_message_writer *out, int idle_ms)
{
    struct pollfd ready = { .fd = out->fd, .events = POLLOUT };
    int64_t end = al_clock_ms() + idle_ms;
    size_t before = SIZE_MAX;

    while (al_message_writer_flush(out)) {
        const size_t left = queued_bytes(out);
        int64_t now = al_clock_ms();

        if (left < before)
            end = now + idle_ms;
        before = left;
        if (now >= end)
            return;
        (void)poll(&ready, 1, (int)(end - now));
    }
}

bool al_message_writer_full(struct al_message_writer *out)
{
    return queued_bytes(out) > AL_MESSAGE_WRITER_FULL_BYTES;
}

bool al_message_writer_dead(struct al_message_writer *out)
{
    bool dead;

    al_hold(&out->lock);
    dead = out->dead;
    return dead;
}
