// SPDX-License-Identifier: Apache-2.0
/* Reads the output of a child until it ends, or has to be ended. */
#ifndef AL_PROC_CAPTURE_H
#define AL_PROC_CAPTURE_H

#include "proc/proc.h"
#include "proc/spawn.h"

/** Why reading stopped. */
enum al_ending {
    AL_ENDING_EXIT,      /**< the child ended */
    AL_ENDING_STOPPED,   /**< the sink of standard output wanted no more */
    AL_ENDING_TIMEOUT,   /**< the deadline passed */
    AL_ENDING_CANCELLED, /**< spec->cancel fired */
};

/** The streams of one child; see al_capture_begin(). */
struct al_capture {
    const struct al_sink *sinks[2]; /* out, err */
    int fds[2];                     /* -1 once the stream ended */
    bool full[2];                   /* the sink wants no more: bytes are read and dropped */
    bool drains;                    /* a full sink of standard output does not stop the child */
    int pidfd, cancel_fd;
    int64_t deadline_ms;
    size_t small_bytes; /* a piece of standard output that is smaller is small */
    bool small_reads;   /* the last read of standard output was a small piece */
};

/** Begin to read; the deadline counts from here.  `spec` and `child` are borrowed. */
struct al_capture al_capture_begin(const struct al_proc_spec *spec, const struct al_spawned *child);

/** Feed the sinks until one of the endings.  The child has ended only with AL_ENDING_EXIT. */
enum al_ending al_capture_wait(struct al_capture *capture);

/** Feed the sinks what the pipes still hold, without waiting.  False: the sink of standard output
 * wanted no more. */
bool al_capture_rest(struct al_capture *capture);

#endif
