// SPDX-License-Identifier: Apache-2.0
/*
 * The tool calls in flight: found by their request's id, each run by a thread of its own
 * (mcp/workers.h).
 *
 * A call beyond AL_CALLS_MAX is refused at once, rather than queued: the reader never waits, and a
 * client that floods is told so.  Calls that only read begin as others of them end or last
 * long, since more at once than there are cores would but wait (mcp/backlog.c).  A cancelled call
 * is killed through its token and never answered.  A call that takes long, or waits for a person,
 * says so in progress notifications if the request named a token; none is sent after the answer.
 */
#ifndef AL_MCP_CALLS_H
#define AL_MCP_CALLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/approval_form.h"
#include "mcp/client_request.h"
#include "mcp/input_required.h"
#include "mcp/reply.h"
#include "util/json.h"

struct al_listed_tool;
struct al_message_writer;
struct al_result_extra;
struct al_session;

/** Calls in flight at once. */
#define AL_CALLS_MAX 256

/** When the first progress notification is due, and how far apart the others are. */
#define AL_PROGRESS_FIRST_MS 2000
#define AL_PROGRESS_NEXT_MS  5000

/** How far apart they are at least when git itself tells how far it is. */
#define AL_PROGRESS_STEP_MS 250

struct al_inflight; /* one call */

struct al_calls {
    const struct al_session *session;
    struct al_message_writer *out;
    struct al_client_requests *client_requests;

    pthread_mutex_t lock;
    struct al_inflight *inflight;
    size_t ninflight;
    struct al_inflight *backlog, **backlog_last; /**< calls that are not begun yet */
    unsigned nrecent_reads,
        reads_max;        /**< calls that only read and began to run lately; how many may */
    unsigned nlong_reads; /**< those that run for longer, and make room */
    int backlog_fd; /**< eventfd that is never read: an edge of it says that al_calls_dequeue() has
                     * one
                     */
    struct al_inflight *spare; /**< one that ended, kept with its token for the next; or NULL */
    bool closing;
    int64_t flusher_due_ms; /**< when the pump looks here again; INT64_MAX: not by itself */
};

/** 0 or AL_ERR_EXECUTION. */
int al_calls_init(struct al_calls *calls, const struct al_session *session,
                  struct al_message_writer *out, struct al_client_requests *client_requests,
                  struct al_error *err);

/** Cancel every call, and all that would still begin.  None of them is answered. */
void al_calls_close(struct al_calls *calls);

/** When none runs any more. */
void al_calls_clear(struct al_calls *calls);

/** What a call starts with.  Strings, `arguments` and `round` are taken over. */
struct al_call_spec {
    char *id;
    char *progress_token; /**< canonical; NULL: the client wants none */
    const struct al_listed_tool *tool;
    json_t *arguments;           /**< NULL: {} */
    const char *arguments_error; /**< a string constant, or NULL */
    enum al_approval_form form;
    bool sampling;                           /**< the client's model writes when asked */
    struct al_input_required input_required; /**< with AL_APPROVAL_FORM_RESULT */
    const struct al_result_extra *extra;     /**< what the result has besides; NULL: nothing */
    struct al_reply reply;
};

/**
 * Take a call up: from here on it can be cancelled.
 * @return what al_calls_run() or al_calls_refuse() must be given; NULL when the call was refused,
 * which is answered.
 */
struct al_inflight *al_calls_register(struct al_calls *calls, struct al_call_spec *spec);

/** Whether the call is to be run now.  If not it was put aside, and comes from al_calls_dequeue().
 */
bool al_calls_admit(struct al_inflight *call);

/** A call that was put aside and is to be run now, NULL: there is none.  Asked after each
 * al_calls_run(), and when `aside_fd` says so. */
struct al_inflight *al_calls_dequeue(struct al_calls *calls);

/** Run the call on this thread and answer it, unless it is cancelled.  `call` is gone then. */
void al_calls_run(struct al_inflight *call);

/** Answer that the call cannot be run, unless it is cancelled.  `call` is gone then. */
void al_calls_refuse(struct al_inflight *call, const char *problem);

/** Cancel the call with this id; unknown ids are ignored. */
void al_calls_cancel(struct al_calls *calls, const char *id);

/** Send the progress notifications that are due.  Returns milliseconds until the next, -1: none. */
int al_calls_progress(struct al_calls *calls);

#endif
