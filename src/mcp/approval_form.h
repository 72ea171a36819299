// SPDX-License-Identifier: Apache-2.0
/*
 * The form a person fills in, and what was filled in.
 *
 * It has one required field without a default, `decision`, and only "accept" with "once" or
 * "always" in it approves: clients are known to accept empty forms by themselves.  The text
 * `reason` is optional and goes to the agent with a rejection.
 *
 * Source: MCP 2025-06-18, 2025-11-25 and 2026-07-28, "Elicitation".
 */
#ifndef AL_MCP_APPROVAL_FORM_H
#define AL_MCP_APPROVAL_FORM_H

#include <stdbool.h>

#include "guard/approval.h"
#include "util/json.h"

/** How the client wants to be asked. */
enum al_approval_form {
    AL_APPROVAL_FORM_NONE,   /**< it cannot show a form */
    AL_APPROVAL_FORM_PLAIN,  /**< up to 2025-06-18: enumNames, no mode */
    AL_APPROVAL_FORM_MODE,   /**< 2025-11-25: mode "form" */
    AL_APPROVAL_FORM_RESULT, /**< from 2026-07-28: the same, as the result of the call */
};

/** Whether client capabilities promise a form. */
bool al_approval_form_usable(const json_t *capabilities);

/** The params of elicitation/create.  Caller owns the reference. */
json_t *al_approval_form_params(enum al_approval_form form,
                                const struct al_approval_request *request);

/** The user's answer in the result of elicitation/create; what is not plainly a yes is a no. */
void al_approval_form_answer(const json_t *result, struct al_approval_answer *ret_answer);

#endif
