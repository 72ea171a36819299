// SPDX-License-Identifier: Apache-2.0
/* A call in flight, shared by serve/mcp/calls.c, serve/mcp/run_call.c and serve/mcp/parking.c. */
#ifndef AL_SERVE_MCP_INFLIGHT_H
#define AL_SERVE_MCP_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/mcp/calls.h"

/** One call, from al_calls_start() to the end of al_calls_run(). */
struct al_inflight {
    struct al_task task;
    struct al_inflight *next;
    struct al_calls *calls;
    struct al_call_spec spec;
    struct al_cancel *cancel;
    size_t nbytes; /**< of the arguments, as its scope's quota counts them; 0 without one */
    const struct al_mounted_list *mounted; /**< that spec.tool is borrowed from; NULL: none */

    /* The lock of `calls` guards the members below. */
    bool cancelled;
    struct al_client_request
        *parked; /**< it waits without a request (serve/mcp/parking.h); NULL: it does not */
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

/** The same for somebody who may take long: others do not wait for the call meanwhile. */
void al_calls_set_waiting_aside(struct al_inflight *call, const char *waiting_for);

/** The `report` of struct al_progress; the payload is the call. */
void al_calls_report(void *payload, const char *line);

/** No progress is sent from here on, and the id may be used again.  False: the call was cancelled.
 */
bool al_calls_unregister(struct al_inflight *call);

/** Run the call on this thread and answer it, unless it is cancelled.  Frees `call`. */
void al_calls_run(struct al_inflight *call);

/** Free an unregistered call. */
void al_inflight_free(struct al_inflight *call);

/** Caller holds the lock.  Have somebody call al_calls_progress() at that time at the latest. */
void al_calls_schedule(struct al_calls *calls, int64_t at_ms);

#endif
