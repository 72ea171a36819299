// SPDX-License-Identifier: Apache-2.0
/* A call in flight, shared by mcp/calls.c, mcp/run_call.c, mcp/parking.c and mcp/backlog.c. */
#ifndef AL_MCP_INFLIGHT_H
#define AL_MCP_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/calls.h"

/** The counter that includes a call: none, calls->nrecent_reads, or calls->nlong_reads. */
enum al_read_state { AL_READ_NONE, AL_READ_RECENT, AL_READ_LONG };

/** One call, from al_calls_register() to the end of al_calls_run() or al_calls_refuse(). */
struct al_inflight {
    struct al_inflight *next;
    struct al_calls *calls;
    struct al_call_spec spec;
    struct al_cancel *cancel;
    size_t nbytes; /**< of the arguments, as its scope's quota counts them; 0 without one */
    const struct al_mounted_list *mounted; /**< that spec.tool is borrowed from; NULL: none */

    /* The lock of `calls` guards the members below. */
    struct al_inflight *next_queued;
    bool queued;
    bool is_read;                  /**< read-only and not cancelled: it counts while it runs */
    enum al_read_state read_state; /**< how it counts now */
    int64_t reading_since_ms;      /**< with AL_READ_RECENT */
    bool cancelled;
    struct al_parked *parked; /**< it waits without a request (mcp/parking.h); NULL: it does not */
    const char *waiting_for;  /**< the progress message while the client is asked, or NULL */
    int64_t progress_due_ms;  /**< when the next notification is due */
    int64_t progress_sent_ms; /**< when the last one was sent */
    char *last_progress;      /**< the last line of git's progress, or NULL */
    unsigned long progress;   /**< of the last notification */
};

/** Caller holds the lock.  The call of a scope whose request has this id; NULL: none, or the scope
 * has no ids to find one by. */
struct al_inflight *al_calls_find(struct al_calls *calls, const struct al_call_scope *scope,
                                  const char *id);

/** The call waits for something, named in the present tense for progress; NULL: no longer. */
void al_calls_set_waiting(struct al_inflight *call, const char *waiting_for);

/** The `report` of struct al_progress; the payload is the call. */
void al_calls_report(void *payload, const char *line);

/** No progress is sent from here on, and the id may be used again.  False: the call was cancelled.
 */
bool al_calls_unregister(struct al_inflight *call);

/** Free an unregistered call. */
void al_inflight_free(struct al_inflight *call);

/** Caller holds the lock.  Make the flusher call al_calls_progress() at that time at the latest. */
void al_calls_schedule_flusher(struct al_calls *calls, int64_t at_ms);

/** Caller holds the lock.  The call waits for the client and does not count meanwhile. */
void al_backlog_pause(struct al_inflight *call);

/** Caller holds the lock.  The call counts again, even if there is no room. */
void al_backlog_resume(struct al_inflight *call);

/** Caller holds the lock.  The call was cancelled: it no longer counts, and if queued it is next.
 */
void al_backlog_cancel(struct al_inflight *call);

/** Caller holds the lock.  Count reads that have become long, and wake a follower if a queued call
 * may run.  Returns when to call this again; INT64_MAX: the backlog is empty, or no read will
 * become long. */
int64_t al_backlog_update(struct al_calls *calls, int64_t now_ms);

/** Caller holds the lock.  The call has ended.  Its thread then calls al_calls_dequeue(). */
void al_backlog_end(struct al_inflight *call);

#endif
