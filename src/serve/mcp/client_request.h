// SPDX-License-Identifier: Apache-2.0
/*
 * Requests from the server to a legacy client.  The call that sends one stays open until the client
 * answers.
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
struct al_client_request;
struct al_rpc_message;

/** Elicitations that wait at once.  Each holds one of the AL_CALLS_MAX calls in flight; this limit
 * leaves room for other calls. */
#define AL_ELICITATIONS_MAX 64

/** Milliseconds that a question of another MCP server waits for the client.  The call may hold the
 * repository's turn meanwhile, so a question that nobody answers must end. */
#define AL_UPSTREAM_QUESTION_MS (10 * 60 * 1000)

/** The requests to one client that wait for a response. */
struct al_client_requests {
    pthread_mutex_t lock; /**< guards the members below */
    struct al_client_request *pending;
    size_t nreserved;    /**< reserved elicitations */
    unsigned long nsent; /**< the last number used in an id */
};

void al_client_requests_init(struct al_client_requests *requests);
void al_client_requests_clear(struct al_client_requests *requests);

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
 * @return 0; AL_ERR_CANCELLED when `cancel` fired; AL_ERR_EXECUTION when nothing could be sent.
 *         A request that is given up is withdrawn with notifications/cancelled.
 */
int al_client_requests_ask(struct al_client_requests *requests, struct al_message_sink *sink,
                           const struct al_client_question *question, struct al_cancel *cancel,
                           json_t **ret_result, struct al_error *err);

/** Reserve one of AL_ELICITATIONS_MAX; false: all are taken.  Release it after the answer. */
bool al_client_requests_reserve(struct al_client_requests *requests);
void al_client_requests_release(struct al_client_requests *requests);

/** Handle a response of the client.  A response to no pending request is ignored. */
void al_client_requests_answer(struct al_client_requests *requests,
                               const struct al_rpc_message *message);

/** Test whether client capabilities include sampling. */
bool al_sampling_usable(const json_t *capabilities);

/** Ask and wait.  The contract is that of struct al_sampler.  Threads: any. */
int al_sampling_ask(struct al_client_requests *requests, struct al_message_sink *sink,
                    const struct al_sampling_request *request, struct al_cancel *cancel,
                    char **ret_text, struct al_error *err);

#endif
