// SPDX-License-Identifier: Apache-2.0
/*
 * JSON-RPC 2.0 messages: one line in, parts out; parts in, one line out.
 *
 * Reading is lenient first, so that a request that is bad can still be answered under its own id:
 * NULs in strings, names given twice and integers of any size are parsed.  A name given twice is
 * then refused: inside `params.arguments` by al_rpc_arguments_problem(), elsewhere by the message,
 * which is none, since another reader may see another message in it.
 *
 * An id is kept as canonical JSON text: a string requoted, an integer in its own digits.  It is
 * echoed as it is, and two ids are equal when their texts are.
 *
 * Source: https://www.jsonrpc.org/specification, MCP "Base protocol".
 */
#ifndef AL_MCP_JSONRPC_H
#define AL_MCP_JSONRPC_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/raw_json.h"
#include "util/json.h"
#include "util/str.h"

/** Values in one message; more would take many times its own size in memory. */
#define AL_RPC_MAX_VALUES 500000u

/** Levels of brackets inside `arguments`: what runs a call has a small stack. */
#define AL_RPC_MAX_ARGUMENTS_DEPTH 64

/** Bytes of an id or of a progress token as JSON: every call in flight keeps a copy of both. */
#define AL_RPC_TOKEN_MAX_BYTES 4096u

/** JSON-RPC's error codes, MCP's own, and none. */
enum al_rpc_code {
    AL_RPC_OK = 0,
    AL_RPC_PARSE_ERROR = -32700,
    AL_RPC_INVALID_REQUEST = -32600,
    AL_RPC_METHOD_NOT_FOUND = -32601,
    AL_RPC_INVALID_PARAMS = -32602,
    AL_RPC_INTERNAL_ERROR = -32603,
    AL_RPC_MISSING_CAPABILITY = -32021,  /**< data: {requiredCapabilities} */
    AL_RPC_UNSUPPORTED_VERSION = -32022, /**< data: {supported, requested} */
};

/** One parsed line.  Borrows the line. */
struct al_rpc_doc {
    json_t *root;
    struct al_raw_json text; /**< what `root` was parsed from */
    char *widened;           /**< owns `text` where large integers had to be rewritten */
    bool exact;              /**< nothing had to be forgiven */
};

#define AL_RPC_DOC_INIT ((struct al_rpc_doc){ .root = NULL })

/**
 * Parse a line.
 * @return AL_RPC_OK with *ret_doc, or AL_RPC_PARSE_ERROR or AL_RPC_INVALID_REQUEST with a sentence.
 */
enum al_rpc_code al_rpc_parse(const char *line, size_t len, struct al_rpc_doc *ret_doc,
                              const char **ret_problem);
void al_rpc_doc_clear(struct al_rpc_doc *doc);

/** Whether the line is an array of messages. */
bool al_rpc_doc_is_batch(const struct al_rpc_doc *doc);

/** What a message is. */
enum al_rpc_kind { AL_RPC_INVALID, AL_RPC_REQUEST, AL_RPC_NOTIFICATION, AL_RPC_RESPONSE };

/** One message of a doc.  Borrows from it, except for `id`. */
struct al_rpc_message {
    enum al_rpc_kind kind;
    char *id;            /**< canonical; NULL when there is none, or none that can be echoed */
    const char *method;  /**< requests and notifications */
    json_t *params;      /**< NULL when absent; may be anything */
    json_t *body;        /**< the whole message */
    const char *problem; /**< AL_RPC_INVALID: what is wrong */

    bool has_duplicates; /**< a response that has a name twice: it answers, but with nothing */
    bool exact;
    struct al_raw_json text;
};

#define AL_RPC_MESSAGE_INIT ((struct al_rpc_message){ .kind = AL_RPC_INVALID })

/** Where al_rpc_doc_next() stands. */
struct al_rpc_cursor {
    size_t index;
    struct al_raw_json item;
};

#define AL_RPC_CURSOR_INIT ((struct al_rpc_cursor){ .index = 0 })

/** The next message of the line; false when there is none left.  Releases what *message held. */
bool al_rpc_doc_next(const struct al_rpc_doc *doc, struct al_rpc_cursor *cursor,
                     struct al_rpc_message *message);
void al_rpc_message_clear(struct al_rpc_message *message);

/**
 * A string or an integer somewhere in the message, as canonical text: an id or a progress token.
 * @param path  Member names from the message down, NULL-terminated.
 * @return NULL when it is absent, too long or anything else.  Caller frees.
 */
char *al_rpc_token(const struct al_rpc_message *message, const char *const *path);

/** Why `params.arguments` cannot be taken at all; NULL when it can. */
const char *al_rpc_arguments_problem(const struct al_rpc_message *message);

/** Begin a line with the result of request `id`; the caller appends the result and al_rpc_end(). */
void al_rpc_begin_result(struct al_str *out, const char *id);
void al_rpc_end(struct al_str *out);

/** A whole line with an error; `id` may be NULL. */
void al_rpc_add_error(struct al_str *out, const char *id, enum al_rpc_code code, const char *text);

/** The same with `data`, which is JSON. */
void al_rpc_add_error_data(struct al_str *out, const char *id, enum al_rpc_code code,
                           const char *text, const char *data);

#endif
