// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that wait for a modern client's answer to a question of another MCP server.
 *
 * A modern client is asked with the result of its request.  The server cannot be asked to begin
 * again, so the call goes on waiting without a request of its own, until a request with its
 * `requestState` brings the answer.  That request is answered when the call ends, or asks again.
 *
 *   state     request of the call   ends when
 *   running   its own               it is answered
 *   parked    none                  a request brings the answer, AL_PARKED_MS pass, or the input
 * ends resumed   the later request     it is answered
 *
 * A requestState is 128 random bits, and is good for one answer to the same tool with the same
 * arguments.
 *
 * Source: MCP 2026-07-28, "Multi round-trip requests".
 */
#ifndef AL_SERVE_MCP_PARKING_H
#define AL_SERVE_MCP_PARKING_H

#include <stdbool.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "serve/mcp/calls.h"

/** A call that waits longer ends as cancelled. */
#define AL_PARKED_MS 120000

/**
 * Answer the request of a call with a question, and wait for the answer.  Runs on the thread of the
 * call.
 *
 * @param params      Of elicitation/create.  Borrowed.
 * @param ret_result  The client's answer.  Caller owns the reference.
 * @return 0; AL_ERR_CANCELLED: nobody answered, and the call has no request to be answered any
 * more; AL_ERR_EXECUTION.
 */
int al_parking_ask(struct al_inflight *call, const json_t *params, struct al_cancel *cancel,
                   json_t **ret_result, struct al_error *err);

/** Test whether the params of a request have the requestState of a parked call. */
bool al_parking_is_answer(const json_t *params);

/**
 * Give the answer in a request to the call that waits for it.
 *
 * @param spec  The request.  Its id, sink and progress token are taken over on success.
 * @param tool  The tool that the request names.
 * @return AL_RPC_OK: the call answers the request; otherwise *ret_problem says what is wrong.
 */
enum al_rpc_code al_parking_resume(struct al_calls *calls, struct al_call_spec *spec,
                                   const char *tool, const json_t *params,
                                   const char **ret_problem);

#endif
