// SPDX-License-Identifier: Apache-2.0
/*
 * Questions of calls to their client, each of which waits on the thread of its call: a request to a
 * legacy client, which stays open until the client answers; or the result of a modern client's
 * request (serve/mcp/calls.h).
 *
 * Source: MCP 2025-06-18 and 2025-11-25, requests from the server.
 */
#ifndef AL_SERVE_MCP_CLIENT_REQUEST_H
#define AL_SERVE_MCP_CLIENT_REQUEST_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "call/call.h"

struct al_cancel;
struct al_meanwhile;
struct al_message_sink;
struct al_rpc_message;

/** Questions to one client that wait at once.  Each holds one of the AL_CALLS_MAX calls in flight;
 * this limit leaves room for other calls. */
#define AL_CLIENT_QUESTIONS_MAX 64

/** Milliseconds that a question of another MCP server waits for the client.  The call may hold the
 * repository's turn meanwhile, so a question that nobody answers must end. */
#define AL_UPSTREAM_QUESTION_MS (10 * 60 * 1000)

/** The questions to one client that wait for an answer. */
struct al_client_requests {
    pthread_mutex_t lock; /**< guards the members below */
    struct al_client_request *pending;
    size_t npending;
    unsigned long nsent; /**< the last number used in an id */
};

void al_client_requests_init(struct al_client_requests *requests);

/** A question that waits for its answer.  On the stack of the thread that asks. */
struct al_client_request {
    struct al_client_request *next;
    char *id;     /**< of the request, as canonical JSON text; of a parked call its requestState */
    int event_fd; /**< readable once answered */
    bool answered;
    json_t *result; /**< NULL: the answer is an error */
};

/** Have a question wait; `id` is taken over.  0, and al_client_request_await() is due;
 * AL_ERR_AGAIN: AL_CLIENT_QUESTIONS_MAX wait already; AL_ERR_EXECUTION. */
int al_client_request_begin(struct al_client_requests *requests, struct al_client_request *request,
                            char *id, struct al_error *err);

/** Wait for the answer.  `timeout_ms` of 0: no limit; `meanwhile` may be NULL.  Whether it was
 * answered; caller owns `id` and `result`. */
bool al_client_request_await(struct al_client_requests *requests, struct al_client_request *request,
                             int timeout_ms, const struct al_meanwhile *meanwhile,
                             struct al_cancel *cancel);

/** Answer the question with this id with a result, which is taken over.  False: none waits. */
bool al_client_request_settle(struct al_client_requests *requests, const char *id, json_t *result);

/** A request to a client.  Borrowed. */
struct al_client_question {
    const char *method;
    const json_t *params;
    int timeout_ms;                       /**< 0: no limit */
    const struct al_meanwhile *meanwhile; /**< NULL: nothing is to be done while it waits */
};

/**
 * Send a request and wait for its response.  Threads: any.
 *
 * @param      sink  Of the call that asks: only its client is asked.
 * @param[out] ret_result  The result; NULL when the client answered with an error, or not in time.
 *                         Caller owns the reference.
 * @return 0; AL_ERR_AGAIN as al_client_request_begin(); AL_ERR_CANCELLED when `cancel` fired;
 *         AL_ERR_EXECUTION when nothing could be sent.
 *         A request that is given up is withdrawn with notifications/cancelled.
 */
int al_client_requests_ask(struct al_client_requests *requests, struct al_message_sink *sink,
                           const struct al_client_question *question, struct al_cancel *cancel,
                           json_t **ret_result, struct al_error *err);

/** Handle a response of the client.  A response to no pending request is ignored. */
void al_client_requests_answer(struct al_client_requests *requests,
                               const struct al_rpc_message *message);

#endif
