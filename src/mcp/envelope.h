// SPDX-License-Identifier: Apache-2.0
/*
 * What a modern request says about itself, in `params._meta`.
 *
 * Eras are told apart message by message: who sends one of the envelope's members speaks the modern
 * revision, and so does who asks for server/discover.  Nothing is remembered from one to the next.
 *
 * Source: MCP 2026-07-28, "Base protocol", and "Versioning" on serving both eras.
 */
#ifndef AL_MCP_ENVELOPE_H
#define AL_MCP_ENVELOPE_H

#include "mcp/jsonrpc.h"
#include "mcp/revision.h"

/** The era whose rules a request or notification follows. */
enum al_era al_envelope_era(const struct al_rpc_message *message);

struct al_envelope {
    const char *version; /**< the name the client gave; borrowed */
    const struct al_revision *revision;
    const json_t *capabilities; /**< an object; borrowed */
};

/**
 * Read the envelope of a modern request.
 *
 * @return AL_RPC_OK; AL_RPC_INVALID_PARAMS with a sentence; or AL_RPC_UNSUPPORTED_VERSION with one,
 *         and `version`.
 */
enum al_rpc_code al_envelope_read(const struct al_rpc_message *message,
                                  struct al_envelope *ret_envelope, const char **ret_problem);

#endif
