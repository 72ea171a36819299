// SPDX-License-Identifier: Apache-2.0
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
#ifndef AL_SERVE_MCP_APPROVAL_FORM_H
#define AL_SERVE_MCP_APPROVAL_FORM_H

#include "base/json.h"
#include "base/protocol_version.h"
#include "guard/approval.h"

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

#endif
