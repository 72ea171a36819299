// SPDX-License-Identifier: Apache-2.0
/*
 * Asks the model of a legacy client to write a text, with sampling/createMessage.
 *
 * Source: MCP 2025-06-18 and 2025-11-25, "Sampling"; 2026-07-28 no longer has this request.
 */
#ifndef AL_MCP_SAMPLING_H
#define AL_MCP_SAMPLING_H

#include <stdbool.h>

#include "mcp/client_request.h"
#include "tool/call.h"

/** Test whether client capabilities include sampling. */
bool al_sampling_usable(const json_t *capabilities);

/** Ask and wait.  The contract is that of struct al_sampler.  Threads: any. */
int al_sampling_ask(struct al_client_requests *requests, struct al_message_sink *sink,
                    const struct al_sampling_request *request, struct al_cancel *cancel,
                    char **ret_text, struct al_error *err);

#endif
