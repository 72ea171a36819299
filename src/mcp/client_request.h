// SPDX-License-Identifier: Apache-2.0
/*
 * Requests of ours to a legacy client, made by a call that stays open until there is an answer.
 *
 * Source: MCP 2025-06-18 and 2025-11-25, requests from the server.
 */
#ifndef AL_MCP_CLIENT_REQUEST_H
#define AL_MCP_CLIENT_REQUEST_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"
#include "util/json.h"

struct al_cancel;
struct al_message_writer;
struct al_client_request;
struct al_rpc_message;

/** Questions to the user that wait at once.  Each keeps the place of a call, of which there are
 * AL_CALLS_MAX: other calls find theirs. */
#define AL_ELICITATIONS_MAX 64

/** The questions that wait for an answer. */
struct al_client_requests {
    struct al_message_writer *out;
    pthread_mutex_t lock;
    struct al_client_request *pending;
    size_t nreserved; /**< places of those to the user */
    unsigned long nsent;
};

void al_client_requests_init(struct al_client_requests *requests, struct al_message_writer *out);
void al_client_requests_clear(struct al_client_requests *requests);

/**
 * Send a request and wait for its response.  Threads: any.
 *
 * @param      params      Borrowed.
 * @param      timeout_ms  0: as long as it takes.
 * @param[out] ret_result  The result; NULL when the client answered with an error, or not in time.
 *                         Caller owns the reference.
 * @return 0; AL_ERR_CANCELLED when `cancel` fired, AL_ERR_EXECUTION when nothing could be sent.
 *         A question nobody waits for any more is withdrawn.
 */
int al_client_requests_ask(struct al_client_requests *requests, const char *method,
                           const json_t *params, int timeout_ms, struct al_cancel *cancel,
                           json_t **ret_result, struct al_error *err);

/** A place for one question to the user; false when all are taken.  Given back after the answer. */
bool al_client_requests_reserve(struct al_client_requests *requests);
void al_client_requests_release(struct al_client_requests *requests);

/** Take a response of the client; one that answers nothing of ours is ignored. */
void al_client_requests_answer(struct al_client_requests *requests,
                               const struct al_rpc_message *message);

#endif
