// SPDX-License-Identifier: Apache-2.0
/*
 * Having the model behind a legacy client write a text, with sampling/createMessage.
 *
 * Source: MCP 2025-06-18 and 2025-11-25, "Sampling"; gone as a request in 2026-07-28.
 */
#ifndef AL_MCP_SAMPLING_H
#define AL_MCP_SAMPLING_H

#include <stdbool.h>

#include "mcp/client_request.h"
#include "tool/call.h"

/** Whether client capabilities promise a model. */
bool al_sampling_usable(const json_t *capabilities);

/** Ask and wait; the contract is struct al_writer's.  Threads: any. */
int al_sampling_ask(struct al_client_requests *requests, const struct al_writing *writing,
                    struct al_cancel *cancel, char **ret_text, struct al_error *err);

/** The text in the result of sampling/createMessage; NULL when it is none, or was cut short.
 * Caller frees. */
char *al_sampling_text(const json_t *result);

#endif
