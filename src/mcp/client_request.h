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
struct al_out;
struct al_question;
struct al_rpc_message;

/** Questions to the user that wait at once.  Each keeps the place of a call, of which there are
 * AL_CALLS_MAX: other calls find theirs. */
#define AL_QUESTIONS_USER_MAX 64

/** The questions that wait for an answer. */
struct al_questions {
    struct al_out *out;
    pthread_mutex_t lock;
    struct al_question *open;
    size_t nreserved; /**< places of those to the user */
    unsigned long asked;
};

void al_questions_init(struct al_questions *questions, struct al_out *out);
void al_questions_clear(struct al_questions *questions);

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
int al_questions_ask(struct al_questions *questions, const char *method, const json_t *params,
                     int timeout_ms, struct al_cancel *cancel, json_t **ret_result,
                     struct al_error *err);

/** A place for one question to the user; false when all are taken.  Given back after the answer. */
bool al_questions_reserve(struct al_questions *questions);
void al_questions_release(struct al_questions *questions);

/** Take a response of the client; one that answers nothing of ours is ignored. */
void al_questions_answer(struct al_questions *questions, const struct al_rpc_message *message);

#endif
