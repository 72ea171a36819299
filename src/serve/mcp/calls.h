// SPDX-License-Identifier: Apache-2.0
/*
 * The tool calls in flight in a server, each found by the id of its request and run on a thread of
 * the pool (serve/mcp/pool.h).
 *
 * - A call belongs to a scope, which is one client.  Nothing of it can be found, cancelled or
 *   resumed from another scope.
 * - A call beyond the limit is refused at once: the reader never waits, and a client that sends
 *   too much gets an error.
 * - AL_READS_MAX calls that only read run at once, which is more than proc runs children: a further
 *   one would hold a thread, an open repository and a record in the journal only to wait for one.
 *   One that waits for the client, or is cancelled, makes room for another.
 * - Calls of one client that may change something begin in the order in which they were sent, each
 *   when the one before has ended or waits for the client.  Calls of other MCP servers have no
 *   order, nor those of modern clients over HTTP, which come on several connections.
 * - A cancelled call is killed through its cancel token and never answered.
 * - A long call, or one that waits for the client, sends progress notifications if its request has
 *   a progress token.  None is sent after the answer.
 *
 * Source: MCP "Tools", "Progress", "Cancellation".
 */
#ifndef AL_SERVE_MCP_CALLS_H
#define AL_SERVE_MCP_CALLS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/str.h"
#include "guard/approval.h"
#include "serve/mcp/input_required.h"
#include "serve/mcp/pool.h"
#include "serve/mcp/reply.h"

struct al_cancel;
struct al_listed_tool;
struct al_message_sink;
struct al_result_extra;
struct al_session;

/** Calls in flight at once, unless the options say otherwise. */
#define AL_CALLS_MAX 256

/** Questions to one client that wait at once.  Each holds one of the AL_CALLS_MAX calls in flight;
 * this limit leaves room for other calls. */
#define AL_CLIENT_QUESTIONS_MAX 64

/** Milliseconds that a question of another MCP server waits for the client.  The call may hold the
 * repository's turn meanwhile, so a question that nobody answers must end. */
#define AL_UPSTREAM_QUESTION_MS (10 * 60 * 1000)

/** Calls that run at once and only read. */
#define AL_READS_MAX 32

/** The first progress notification comes after the first time, the others this far apart. */
#define AL_PROGRESS_FIRST_MS 2000
#define AL_PROGRESS_NEXT_MS  5000

/** The least time between two notifications when git reports progress itself. */
#define AL_PROGRESS_STEP_MS 250

struct al_inflight; /* one call */

/** Calls that several scopes may have together. */
struct al_call_quota {
    size_t max;
    size_t max_bytes; /**< of their arguments, by al_json_bytes(); a single call may have more */

    /* The lock of struct al_calls guards these. */
    size_t ninflight;
    size_t nbytes; /**< of the arguments of these */
};

/** One client as its calls see it.  Set up before its first call; al_calls_start() takes a
 * reference for each call. */
struct al_call_scope {
    const struct al_session *session;
    struct al_gate changes;      /**< calls that may change something run one after the other */
    struct al_call_quota *quota; /**< NULL: only the limit of the server counts */
    bool ids_repeat; /**< two requests may have the same id, which then names none of them */
    unsigned long
        nquestions; /**< requests sent to the client; the lock of struct al_calls guards it */
    atomic_size_t refs;
    void (*unused)(struct al_call_scope *scope); /**< called with the last reference; may be NULL */
};

/** Takes the first reference.  `session` is borrowed. */
void al_call_scope_init(struct al_call_scope *scope, const struct al_session *session);

void al_call_scope_ref(struct al_call_scope *scope);
void al_call_scope_unref(struct al_call_scope *scope);

struct al_calls_options {
    const struct al_cancel *ready; /**< see struct al_mcp_options */
    size_t max;                    /**< calls in flight at once */
    int wake_fd; /**< eventfd that wakes the thread that calls al_calls_progress() */
    struct al_pool *pool;
};

struct al_calls {
    struct al_calls_options options;

    pthread_cond_t idle;          /**< signalled when every call was answered */
    pthread_mutex_t lock;         /**< guards the members below */
    struct al_inflight *inflight; /**< every call that is registered */
    size_t ninflight;
    size_t nunanswered;   /**< those, and calls that have just left the list to be answered */
    struct al_gate reads; /**< calls that only read */
    bool closing;
};

void al_calls_init(struct al_calls *calls, const struct al_calls_options *options);

/** Cancel every call in flight, and every call that is registered later.  None is answered. */
void al_calls_close(struct al_calls *calls);

/** Wait until every call was answered, `timeout_ms` at most.  Whether all were. */
bool al_calls_wait_idle(struct al_calls *calls, int timeout_ms);

/** The number of calls that have no answer yet. */
size_t al_calls_count(struct al_calls *calls);

/** Test whether a call of a scope is in flight. */
bool al_calls_has_scope(struct al_calls *calls, const struct al_call_scope *scope);

/** Cancel every call of a scope that is in flight; with a sink only those that it awaits. */
void al_calls_cancel_all(struct al_calls *calls, const struct al_call_scope *scope,
                         const struct al_message_sink *sink);

/** Only after the last call has ended. */
void al_calls_clear(struct al_calls *calls);

/** A tools/call request, or another one that may take long.  al_calls_start() takes over the
 * strings, `arguments` and `input_required`. */
struct al_call_spec {
    struct al_call_scope *scope;
    char *id;
    char *progress_token; /**< canonical; NULL: the client wants none */
    char *client;         /**< the client's name, safe text; NULL: none */
    const struct al_listed_tool *tool;
    char *
        mounted_tool; /**< without `tool`: its name, which is looked up on the thread of the call */

    /** Append the result of another request than tools/call, with `extra`.  NULL: call the tool.
     */
    void (*respond)(void *payload, const struct al_result_extra *extra, struct al_cancel *cancel,
                    struct al_str *out);
    void *payload;
    json_t *arguments;           /**< NULL: {} */
    const char *arguments_error; /**< a string constant, or NULL */
    enum al_approval_form form;
    bool sampling;                           /**< the client offers sampling/createMessage */
    struct al_input_required input_required; /**< with AL_APPROVAL_FORM_RESULT */
    const struct al_result_extra *extra;     /**< what a modern result adds; NULL: nothing */
    struct al_message_sink *sink; /**< of the request; NULL: nobody waits for an answer */
};

/** Free what it owns. */
void al_call_spec_clear(struct al_call_spec *spec);

/** Have a call run on a thread of the pool, and be answered unless it is cancelled; or answer now
 * why it cannot be (duplicate id, too many calls, too many bytes). */
void al_calls_start(struct al_calls *calls, struct al_call_spec *spec);

/** Cancel the call of a scope with this id; unknown ids are ignored. */
void al_calls_cancel(struct al_calls *calls, const struct al_call_scope *scope, const char *id);

/** Give the call that asked the client its response.  One to no question that waits is ignored. */
void al_calls_answer(struct al_calls *calls, const struct al_call_scope *scope,
                     const struct al_rpc_message *message);

/** Send the progress notifications that are due.  Returns the milliseconds until the next time, -1:
 * none. */
int al_calls_progress(struct al_calls *calls);

/** Test whether the params of a request have the requestState of a parked call. */
bool al_calls_is_answer(const json_t *params);

/**
 * Give the answer in a request to the call that waits for it.
 *
 * @param spec  The request.  Its id, sink and progress token are taken over on success.
 * @param tool  The tool that the request names.
 * @return AL_RPC_OK: the call answers the request; otherwise *ret_problem says what is wrong.
 */
enum al_rpc_code al_calls_resume(struct al_calls *calls, struct al_call_spec *spec,
                                 const char *tool, const json_t *params, const char **ret_problem);

#endif
