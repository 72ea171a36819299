// SPDX-License-Identifier: Apache-2.0
/*
 * The envelope of a modern request: protocol version and client capabilities in `params._meta`.
 *
 * A message is modern if it has one of the envelope's members or its method is server/discover;
 * otherwise it is legacy.  Earlier messages do not matter.
 *
 * Source: MCP 2026-07-28, "Base protocol", and "Versioning" on serving both eras.
 */
#ifndef AL_MCP_REQUEST_META_H
#define AL_MCP_REQUEST_META_H

#include "wire/jsonrpc.h"
#include "wire/protocol_version.h"

/** The era of a request or notification. */
enum al_era al_envelope_era(const struct al_rpc_message *message);

struct al_envelope {
    const char *version; /**< as the client sent it; borrowed */
    const struct al_revision *revision;
    const json_t *capabilities; /**< an object; borrowed */
    const json_t *client;       /**< clientInfo, an object; NULL: none; borrowed */
};

/**
 * Read the envelope of a modern request.
 *
 * @return AL_RPC_OK; AL_RPC_INVALID_PARAMS with *ret_problem; or AL_RPC_UNSUPPORTED_VERSION with
 *         *ret_problem and `version`.
 */
enum al_rpc_code al_envelope_read(const struct al_rpc_message *message,
                                  struct al_envelope *ret_envelope, const char **ret_problem);

#endif
