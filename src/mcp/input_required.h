// SPDX-License-Identifier: Apache-2.0
/*
 * Asking in rounds: a call ends with a question, and another call, which is the same, brings the
 * answer.
 *
 * The answer counts for the same tool with the same arguments, shown with the same words in the
 * same repository state, once, and for a few minutes; otherwise the person is asked again, except
 * that a no is always a no.
 *
 * Source: MCP 2026-07-28, "Multi round-trip requests"; docs/PROTOCOL.md.
 */
#ifndef AL_MCP_INPUT_REQUIRED_H
#define AL_MCP_INPUT_REQUIRED_H

#include "guard/approval.h"
#include "mcp/jsonrpc.h"
#include "mcp/request_state.h"
#include "util/str.h"

/** One call's part in it.  All but `question` is borrowed. */
struct al_input_required {
    struct al_request_states *request_states;
    const char *tool;
    const json_t *arguments; /**< NULL: {} */

    struct al_approval_answer answer;      /**< what the call brought; AL_ANSWER_NONE: nothing */
    struct al_request_state request_state; /**< of the question it answers */
    struct al_str result; /**< members of the InputRequiredResult; "" when nobody is to be asked */
};

#define AL_INPUT_REQUIRED_INIT ((struct al_input_required){ .result = AL_STR_INIT })

/**
 * Take what the call brings: `requestState` and `inputResponses` of its params.
 * @return AL_RPC_OK, or AL_RPC_INVALID_PARAMS with a sentence.
 */
enum al_rpc_code al_input_required_begin(struct al_input_required *input, const json_t *params,
                                         const char **ret_problem);
void al_input_required_clear(struct al_input_required *input);

/** Give the answer that was brought, or put the question; the contract is al_approver_fn's. */
int al_input_required_ask(struct al_input_required *input,
                          const struct al_approval_request *request,
                          struct al_approval_answer *ret_answer, struct al_error *err);

#endif
