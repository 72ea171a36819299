// SPDX-License-Identifier: Apache-2.0
/* A call in flight, as mcp/calls.c and mcp/backlog.c share it. */
#ifndef AL_MCP_INFLIGHT_H
#define AL_MCP_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/calls.h"

/** One of calls->nreading, one of calls->nlong, or neither. */
enum al_read_state { AL_READ_NONE, AL_READ_RECENT, AL_READ_LONG };

/** Between al_calls_register() and the end of al_calls_run(). */
struct al_inflight {
    struct al_inflight *next;
    struct al_calls *calls;
    struct al_call_spec spec;
    struct al_cancel *cancel;

    /* Under the lock of `calls`. */
    struct al_inflight *next_queued;
    bool queued;
    bool is_read;                  /* it counts while it runs and waits for nobody outside */
    enum al_read_state read_state; /* as what it counts now */
    int64_t reading_since_ms;      /* AL_READ_RECENT: since when */
    bool cancelled;
    const char *waiting_for; /* NULL: for nobody outside */
    int64_t progress_due_ms;
    int64_t progress_sent_ms; /* when the last one was sent */
    char *last_progress;      /* what git said last about how far it is, NULL: nothing */
    unsigned long progress;
};

/** Caller holds the lock.  Have the pump look here at that time, if it would look later. */
void al_calls_schedule_flusher(struct al_calls *calls, int64_t at_ms);

/** Caller holds the lock.  The call does not count for now: it waits for somebody outside. */
void al_backlog_pause(struct al_inflight *call);

/** Caller holds the lock.  It counts again, whether there is room or not. */
void al_backlog_resume(struct al_inflight *call);

/** Caller holds the lock.  The call was cancelled: it waits no longer, and does not count. */
void al_backlog_cancel(struct al_inflight *call);

/** Caller holds the lock.  Let those make room that read for long by now.  When to look again,
 * INT64_MAX: nothing waits for that. */
int64_t al_backlog_update(struct al_calls *calls, int64_t now_ms);

/** Caller holds the lock.  The call has ended; its thread asks al_calls_dequeue(). */
void al_backlog_end(struct al_inflight *call);

#endif
