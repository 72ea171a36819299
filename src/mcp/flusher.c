// SPDX-License-Identifier: Apache-2.0
#include "mcp/flusher.h"

#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "mcp/calls.h"
#include "wire/writer.h"

#define STACK_BYTES ((size_t)128 * 1024)

static void *thread_main(void *payload)
{
    struct al_flusher *flusher = payload;
    struct pollfd fds[] = {
        { .fd = flusher->out->wake_fd, .events = POLLIN },
        { .fd = flusher->out->fd, .events = POLLOUT },
    };
    uint64_t count;

    while (!atomic_load(&flusher->stop)) {
        /* Progress first, so that what it queues is flushed too. */
        int timeout_ms = al_calls_progress(flusher->calls);
        bool more = al_message_writer_flush(flusher->out);

        (void)poll(fds, more ? 2 : 1, timeout_ms);
        (void)!read(flusher->out->wake_fd, &count, sizeof(count));
    }
    return NULL;
}

int al_flusher_start(struct al_flusher *flusher, struct al_message_writer *out,
                     struct al_calls *calls, struct al_error *err)
{
    pthread_attr_t attr;
    int r;

    flusher->out = out;
    flusher->calls = calls;
    atomic_init(&flusher->stop, false);
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    r = pthread_create(&flusher->thread, &attr, thread_main, flusher);
    (void)pthread_attr_destroy(&attr);
    return r ? al_error_errno(err, r, "cannot start a thread") : 0;
}

void al_flusher_stop(struct al_flusher *flusher)
{
    atomic_store(&flusher->stop, true);
    al_message_writer_wake(flusher->out);
    (void)pthread_join(flusher->thread, NULL);
}
