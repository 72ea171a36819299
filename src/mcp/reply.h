// SPDX-License-Identifier: Apache-2.0
/*
 * Where an answer goes: straight out, or into the array that answers a batch.
 *
 * Every message is answered once, with a line or with nothing; the answers of a batch are sent
 * together after the last of them, and not at all when there are none.
 */
#ifndef AL_MCP_REPLY_H
#define AL_MCP_REPLY_H

#include "mcp/jsonrpc.h"
#include "util/str.h"

struct al_batch;
struct al_message_writer;

struct al_reply {
    struct al_message_writer *out;
    struct al_batch *batch; /**< NULL: a message of its own */
};

/** Begin a batch.  It goes away with the answer to its last message and al_batch_close(). */
struct al_batch *al_batch_new(struct al_message_writer *out);

/** One more message whose answer is awaited. */
struct al_reply al_batch_expect(struct al_batch *batch);

/** No more messages. */
void al_batch_close(struct al_batch *batch);

/** Answer with a line.  Threads: any. */
void al_reply_send(struct al_reply reply, struct al_str *line);

/** Answer with nothing. */
void al_reply_nothing(struct al_reply reply);

/** Answer with an error; `id` may be NULL. */
void al_reply_error(struct al_reply reply, const char *id, enum al_rpc_code code, const char *text);

/** The same with data, which is JSON. */
void al_reply_error_data(struct al_reply reply, const char *id, enum al_rpc_code code,
                         const char *text, const char *data);

/** The same, ending in `name`, shortened and made safe: it is somebody else's text; then in what
 * was `meant`, NULL: nobody knows. */
void al_reply_error_about(struct al_reply reply, const char *id, enum al_rpc_code code,
                          const char *text, const char *name, const char *suggestion);

/** A JSON string of somebody else's text, shortened like the name.  Caller frees. */
char *al_reply_quote(const char *text);

#endif
