// SPDX-License-Identifier: Apache-2.0
/*
 * The one thread beside the crew: it empties the output's queue when the other side
 * has made room, and sends progress when it is due.  Otherwise it sleeps.
 */
#ifndef AL_MCP_FLUSHER_H
#define AL_MCP_FLUSHER_H

#include <pthread.h>
#include <stdatomic.h>

#include "util/error.h"

struct al_calls;
struct al_message_writer;

/** The thread that writes what could not be written at once, and reports progress. */
struct al_flusher {
    struct al_message_writer *out;
    struct al_calls *calls;
    pthread_t thread;
    atomic_bool stop;
};

/** Start the thread.  0 or AL_ERR_EXECUTION. */
int al_flusher_start(struct al_flusher *flusher, struct al_message_writer *out,
                     struct al_calls *calls, struct al_error *err);

/** Wait until the thread is gone.  `calls` must still be there. */
void al_flusher_stop(struct al_flusher *flusher);

#endif
