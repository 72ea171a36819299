// SPDX-License-Identifier: Apache-2.0
/*
 * Asking the person behind a legacy client, with elicitation/create, while the call stays open.
 *
 * Source: MCP 2025-06-18 and 2025-11-25, "Elicitation".
 */
#ifndef AL_MCP_ELICIT_H
#define AL_MCP_ELICIT_H

#include <pthread.h>

#include "mcp/form.h"

struct al_cancel;
struct al_out;
struct al_question;
struct al_rpc_message;

/** The questions that wait for an answer. */
struct al_elicit {
    struct al_out *out;
    pthread_mutex_t lock;
    struct al_question *open;
    unsigned long asked;
};

void al_elicit_init(struct al_elicit *elicit, struct al_out *out);
void al_elicit_clear(struct al_elicit *elicit);

/** Ask and wait; the contract is al_approver_fn's.  Threads: any. */
int al_elicit_ask(struct al_elicit *elicit, enum al_form form,
                  const struct al_approval_request *request, struct al_cancel *cancel,
                  enum al_answer *ret_answer, struct al_error *err);

/** Take a response of the client; one that answers nothing of ours is ignored. */
void al_elicit_answer(struct al_elicit *elicit, const struct al_rpc_message *message);

#endif
