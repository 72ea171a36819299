// SPDX-License-Identifier: Apache-2.0
/* A call in flight, as mcp/calls.c and mcp/aside.c share it. */
#ifndef AL_MCP_RUNNING_H
#define AL_MCP_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/calls.h"

/** Between al_calls_take() and the end of al_calls_run(). */
struct al_running {
    struct al_running *next;
    struct al_calls *calls;
    struct al_call_order order;
    struct al_cancel *cancel;

    /* Under the lock of `calls`. */
    struct al_running *next_aside;
    bool is_aside;
    bool reads; /* it is one of calls->nreading while it runs and waits for nobody */
    bool cancelled;
    const char *waiting_for; /* NULL: for nobody outside */
    int64_t progress_at_ms;
    int64_t told_at_ms; /* when the last one was sent */
    char *heard;        /* what git said last about how far it is, NULL: nothing */
    unsigned long progress;
};

/** Caller holds the lock.  The call does not count for now: it waits for somebody outside. */
void al_aside_pause(struct al_running *call);

/** Caller holds the lock.  It counts again, whether there is room or not. */
void al_aside_resume(struct al_running *call);

/** Caller holds the lock.  The call was cancelled: it waits no longer, and does not count. */
void al_aside_cancel(struct al_running *call);

/** Caller holds the lock.  The call has ended; its thread asks al_calls_next(). */
void al_aside_end(struct al_running *call);

#endif
