// SPDX-License-Identifier: Apache-2.0
/*
 * Sends an answer to the sink of its request.
 *
 * Every message is answered exactly once, with a line or with nothing.
 */
#ifndef AL_SERVE_MCP_REPLY_H
#define AL_SERVE_MCP_REPLY_H

#include "base/jsonrpc.h"
#include "base/protocol_version.h"
#include "base/str.h"

struct al_envelope {
    const char *version; /**< as the client sent it; borrowed */
    const struct al_revision *revision;
    const json_t *capabilities; /**< an object; borrowed */
    const json_t *client;       /**< clientInfo, an object; NULL: none; borrowed */
};

struct al_message_sink;

/** Answer with a line.  A sink of NULL: nobody waits for it.  Threads: any. */
void al_reply_send(struct al_message_sink *sink, struct al_str *line);

/** Answer with nothing.  Threads: any. */
void al_reply_nothing(struct al_message_sink *sink);

/** Answer with an error because too much runs; the request may succeed later. */
void al_reply_busy(struct al_message_sink *sink, const char *id, const char *text);

/** Answer with an error; `id` may be NULL. */
void al_reply_error(struct al_message_sink *sink, const char *id, enum al_rpc_code code,
                    const char *text);

/** The same, ending in `name` and a `suggestion` (NULL: none).  `name` is the client's text, so it
 * is sanitized and shortened. */
void al_reply_error_about(struct al_message_sink *sink, const char *id, enum al_rpc_code code,
                          const char *text, const char *name, const char *suggestion);

/** Answer that a revision, the client's text, is not supported, and which ones are. */
void al_reply_unsupported(struct al_message_sink *sink, const char *id, const char *problem,
                          const char *version);

/** The era of a request or notification. */
enum al_era al_envelope_era(const struct al_rpc_message *message);

/**
 * Read the envelope of a modern request.
 *
 * @return AL_RPC_OK; AL_RPC_INVALID_PARAMS with *ret_problem; or AL_RPC_UNSUPPORTED_VERSION with
 *         *ret_problem and `version`.
 */
enum al_rpc_code al_envelope_read(const struct al_rpc_message *message,
                                  struct al_envelope *ret_envelope, const char **ret_problem);

#endif
