// SPDX-License-Identifier: Apache-2.0
/*
 * InputRequiredResult: a call ends with a request for approval, and the client repeats the call
 * with the user's answer.
 *
 *   an approval counts                      otherwise
 *   for the same tool and arguments         the call is refused as invalid
 *   for what was shown to the user          the user is asked again
 *   for the repository state of that time   the user is asked again
 *   once                                    the user is asked again
 *   for AL_REQUEST_STATE_LIFETIME_MS        the user is asked again
 *
 * A rejection always counts, even if what it answers is out of date.
 *
 * Source: MCP 2026-07-28, "Multi round-trip requests"; docs/PROTOCOL.md.
 */
#ifndef AL_MCP_INPUT_REQUIRED_H
#define AL_MCP_INPUT_REQUIRED_H

#include "guard/rules/approval.h"
#include "mcp/request_state.h"
#include "util/str.h"
#include "wire/jsonrpc.h"

/** The input of one call.  `request_states`, `tool` and `arguments` are borrowed. */
struct al_input_required {
    struct al_request_states *request_states;
    const char *tool;
    const json_t *arguments; /**< NULL: {} */

    struct al_approval_answer answer;      /**< the answer in the call; AL_ANSWER_NONE: none */
    struct al_request_state request_state; /**< which request it answers */
    struct al_str result;                  /**< members of the InputRequiredResult; "": none */
};

#define AL_INPUT_REQUIRED_INIT ((struct al_input_required){ .result = AL_STR_INIT })

/**
 * Read `requestState` and `inputResponses` from the params of a call.
 * @return AL_RPC_OK, or AL_RPC_INVALID_PARAMS with *ret_problem.
 */
enum al_rpc_code al_input_required_begin(struct al_input_required *input, const json_t *params,
                                         const char **ret_problem);
void al_input_required_clear(struct al_input_required *input);

/** Return the answer in the call, or put a request into `result` and return AL_ANSWER_LATER.  The
 * contract is that of al_approver_fn. */
int al_input_required_ask(struct al_input_required *input,
                          const struct al_approval_request *request,
                          struct al_approval_answer *ret_answer, struct al_error *err);

#endif
