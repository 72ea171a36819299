// SPDX-License-Identifier: Apache-2.0
/* Collect what a child writes until it ends, or must be ended. */
#ifndef AL_PROC_CAPTURE_H
#define AL_PROC_CAPTURE_H

#include "proc/proc.h"
#include "proc/spawn.h"

enum al_ending {
    AL_ENDING_EXIT,      /**< by itself */
    AL_ENDING_STOPPED,   /**< out's sink wanted no more */
    AL_ENDING_TIMEOUT,   /**< the deadline passed */
    AL_ENDING_CANCELLED, /**< spec->cancel fired */
};

/** What is being collected from whom; see al_capture_begin(). */
struct al_capture {
    const struct al_sink *sinks[2]; /* out, err */
    int fds[2];                     /* -1 once the stream ended */
    bool full[2];                   /* that sink wants no more: read and dropped */
    bool drains;                    /* standard output too */
    int pidfd, cancel_fd;
    int64_t deadline_ms;
    bool small_reads; /* standard output comes in small pieces */
};

/** The deadline counts from here. */
struct al_capture al_capture_begin(const struct al_proc_spec *spec, const struct al_spawned *child);

/** Feed the sinks until one of the endings; only AL_ENDING_EXIT means that the child is gone. */
enum al_ending al_capture_wait(struct al_capture *capture);

/** Feed the sinks what the pipes still hold, waiting for nobody; false when out's refused. */
bool al_capture_rest(struct al_capture *capture);

#endif
