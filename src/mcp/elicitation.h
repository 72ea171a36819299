// SPDX-License-Identifier: Apache-2.0
/*
 * Asks the user of a legacy client with elicitation/create while the call stays open.
 *
 * Source: MCP 2025-06-18 and 2025-11-25, "Elicitation".
 */
#ifndef AL_MCP_ELICITATION_H
#define AL_MCP_ELICITATION_H

#include "mcp/approval_form.h"
#include "mcp/client_request.h"

/** Ask and wait.  The contract is that of al_approver_fn.  Threads: any. */
int al_elicitation_ask(struct al_client_requests *requests, struct al_message_sink *sink,
                       enum al_approval_form form, const struct al_approval_request *request,
                       struct al_cancel *cancel, struct al_approval_answer *ret_answer,
                       struct al_error *err);

#endif
