// SPDX-License-Identifier: Apache-2.0
/*
 * Sends an answer to the sink of its request, or adds it to the array that answers a batch.
 *
 * Every message is answered exactly once, with a line or with nothing.  The answers of a batch are
 * sent together after the last of them.  A batch without answers sends nothing.
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

struct al_batch;
struct al_message_sink;

/** Begin a batch, which is answered on `out`.  It frees itself after al_batch_close() and the
 * answer to its last message. */
struct al_batch *al_batch_new(struct al_message_sink *out);

/** Add a message whose answer belongs to the batch.  Returns the sink for it. */
struct al_message_sink *al_batch_expect(struct al_batch *batch);

/** Bytes of the answers so far. */
size_t al_batch_bytes(struct al_batch *batch);

/** No more messages will be added. */
void al_batch_close(struct al_batch *batch);

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
