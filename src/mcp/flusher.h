// SPDX-License-Identifier: Apache-2.0
/*
 * One thread that writes queued output when the client has made room, and sends progress
 * notifications when they are due.  It sleeps otherwise.
 */
#ifndef AL_MCP_FLUSHER_H
#define AL_MCP_FLUSHER_H

#include <pthread.h>
#include <stdatomic.h>

#include "util/error.h"

struct al_calls;
struct al_message_writer;

/** The thread and what it works on; both borrowed. */
struct al_flusher {
    struct al_message_writer *out;
    struct al_calls *calls;
    pthread_t thread;
    atomic_bool stop;
};

/** Start the thread.  0 or AL_ERR_EXECUTION. */
int al_flusher_start(struct al_flusher *flusher, struct al_message_writer *out,
                     struct al_calls *calls, struct al_error *err);

/** Stop the thread and join it.  `out` and `calls` must still exist. */
void al_flusher_stop(struct al_flusher *flusher);

#endif
