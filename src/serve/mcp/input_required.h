// SPDX-License-Identifier: Apache-2.0
/*
 * Approvals of modern clients: a call ends with the question, and another one brings the answer.
 *
 * A requestState, which the client carries from the one to the other, is 128 random bits.  It
 * stands for the call and for what was shown to the user, of which digests are kept here.  It is
 * valid for AL_REQUEST_STATE_LIFETIME_MS, as long as it is among the last AL_REQUEST_STATES_MAX
 * that were issued, and can be spent once.
 *
 * Source: MCP 2026-07-28, "Multi round-trip requests".
 */
#ifndef AL_SERVE_MCP_INPUT_REQUIRED_H
#define AL_SERVE_MCP_INPUT_REQUIRED_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/protocol_version.h"
#include "base/str.h"
#include "guard/approval.h"

/*
 * The approval form that the client shows to the user, and the user's answer.
 *
 *   field     required  values
 *   decision  yes       once, always, reject; no default
 *   reason    no        text; sent to the agent with a rejection
 *
 * Only the action "accept" with the decision "once" or "always" approves.  The decision has no
 * default because some clients accept an untouched form by themselves.
 *
 * Source: MCP 2025-06-18, 2025-11-25 and 2026-07-28, "Elicitation".
 */

/** The form in which the client is asked. */
enum al_approval_form {
    AL_APPROVAL_FORM_NONE,   /**< the client cannot show a form */
    AL_APPROVAL_FORM_PLAIN,  /**< up to 2025-06-18: enumNames, no mode */
    AL_APPROVAL_FORM_MODE,   /**< 2025-11-25: mode "form" */
    AL_APPROVAL_FORM_RESULT, /**< from 2026-07-28: mode "form", in the result of the call */
};

/** The form for a client with these capabilities. */
enum al_approval_form al_approval_form_for(const json_t *capabilities,
                                           const struct al_revision *revision);

/** The params of elicitation/create.  Caller owns the reference. */
json_t *al_approval_form_params(enum al_approval_form form,
                                const struct al_approval_request *request);

/** The user's answer in the result of elicitation/create.  Anything but a clear approval is a
 * rejection. */
void al_approval_form_answer(const json_t *result, struct al_approval_answer *ret_answer);

/* --- The answer in a later request --- */

/** The time for which a state is valid. */
#define AL_REQUEST_STATE_LIFETIME_MS (5 * 60 * 1000)

/** The newest states, which are known. */
#define AL_REQUEST_STATES_MAX 4096

/** The states of one server. */
struct al_request_states {
    int64_t (*clock_ms)(void); /**< al_clock_ms(), or a test's clock */

    pthread_mutex_t lock;            /**< guards the members below */
    struct al_request_state *issued; /**< a ring: the n-th is at n % AL_REQUEST_STATES_MAX */
    size_t nissued;
};

void al_request_states_init(struct al_request_states *states);
void al_request_states_clear(struct al_request_states *states);

/** The input of one call.  `request_states`, `tool` and `arguments` are borrowed. */
struct al_input_required {
    struct al_request_states *request_states;
    const char *tool;
    const json_t *arguments; /**< NULL: {} */

    struct al_approval_answer answer; /**< the answer in the call; AL_ANSWER_NONE: none */
    char *state;                      /**< the requestState that it came with; NULL: none */
    struct al_str result;             /**< members of the InputRequiredResult; "": none */
};

#define AL_INPUT_REQUIRED_INIT ((struct al_input_required){ .result = AL_STR_INIT })

/**
 * Read `requestState` and `inputResponses` from the params of a call.
 * @return AL_RPC_OK, or AL_RPC_INVALID_PARAMS with *ret_problem.
 */
enum al_rpc_code al_input_required_begin(struct al_input_required *input, const json_t *params,
                                         const char **ret_problem);
void al_input_required_clear(struct al_input_required *input);

/** Return the answer in the call, or put a request into `result` and return AL_ANSWER_LATER. */
void al_input_required_ask(struct al_input_required *input,
                           const struct al_approval_request *request,
                           struct al_approval_answer *ret_answer);

#endif
