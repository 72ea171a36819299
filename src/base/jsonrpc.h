// SPDX-License-Identifier: Apache-2.0
/*
 * Parses JSON-RPC 2.0 messages and writes answers, one line each.
 *
 * Parsing is lenient, so that a bad request can still be answered under its own id:
 *
 *   input                                   parsed?  then
 *   NUL escaped in a string                 yes      refused in params.arguments
 *   a name given twice in params.arguments  yes      refused by al_rpc_arguments_problem()
 *   a name given twice elsewhere            yes      AL_RPC_INVALID, since another parser may see
 *                                                    another message
 *   an integer of more than 64 bits         yes      an id keeps its digits
 *   a NUL byte                              no       AL_RPC_PARSE_ERROR
 *
 * An id is kept as canonical JSON text: a string is quoted again, an integer keeps its digits.  The
 * text is echoed, and two ids are equal if their texts are.
 *
 * Source: https://www.jsonrpc.org/specification, MCP "Base protocol".
 */
#ifndef AL_BASE_JSONRPC_H
#define AL_BASE_JSONRPC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/str.h"

struct al_raw_json {
    const char *at; /**< NULL: not found */
    size_t len;
};

/** Values in one message: a parsed value takes many times the memory of its text. */
#define AL_RPC_MAX_VALUES 500000u

/** Levels of brackets inside `arguments`: a thread that runs a call has a small stack. */
#define AL_RPC_MAX_ARGUMENTS_DEPTH 64

/** Bytes of an id or a progress token as JSON: every call in flight keeps a copy of both. */
#define AL_RPC_TOKEN_MAX_BYTES 4096u

/** The error codes of JSON-RPC and MCP; AL_RPC_OK: no error. */
enum al_rpc_code {
    AL_RPC_OK = 0,
    AL_RPC_PARSE_ERROR = -32700,
    AL_RPC_INVALID_REQUEST = -32600,
    AL_RPC_METHOD_NOT_FOUND = -32601,
    AL_RPC_INVALID_PARAMS = -32602,
    AL_RPC_INTERNAL_ERROR = -32603,
    AL_RPC_HEADER_MISMATCH = -32020,     /**< of HTTP headers and the message */
    AL_RPC_MISSING_CAPABILITY = -32021,  /**< data: {requiredCapabilities} */
    AL_RPC_UNSUPPORTED_VERSION = -32022, /**< data: {supported, requested} */
};

/** One parsed line.  Borrows the line. */
struct al_rpc_doc {
    json_t *root;
    struct al_raw_json text; /**< what `root` was parsed from */
    char *widened;           /**< owns `text` if large integers had to be rewritten, else NULL */
    bool exact;              /**< the strict parser took the line */
};

#define AL_RPC_DOC_INIT ((struct al_rpc_doc){ .root = NULL })

/**
 * Parse a line.
 * @return AL_RPC_OK with *ret_doc; AL_RPC_PARSE_ERROR or AL_RPC_INVALID_REQUEST with *ret_problem.
 */
enum al_rpc_code al_rpc_parse(const char *line, size_t len, struct al_rpc_doc *ret_doc,
                              const char **ret_problem);
void al_rpc_doc_clear(struct al_rpc_doc *doc);

/** The id of a line that is no JSON, such as one with half of a surrogate pair: its sender waits.
 * NULL: it has none that can be read.  Caller frees. */
char *al_rpc_broken_id(const char *line, size_t len);

/** Test whether the line is an array of messages. */
bool al_rpc_doc_is_batch(const struct al_rpc_doc *doc);

/** The kinds of messages. */
enum al_rpc_kind { AL_RPC_INVALID, AL_RPC_REQUEST, AL_RPC_NOTIFICATION, AL_RPC_RESPONSE };

/** One message of a doc.  `id` is owned, the rest is borrowed from the doc. */
struct al_rpc_message {
    enum al_rpc_kind kind;
    char *id;            /**< canonical; NULL: there is none, or none that can be echoed */
    const char *method;  /**< requests and notifications */
    json_t *params;      /**< any type; NULL: absent */
    json_t *body;        /**< the whole message */
    const char *problem; /**< AL_RPC_INVALID: what is wrong */

    bool has_duplicates;     /**< a name is given twice outside `arguments` */
    bool exact;              /**< of the doc */
    struct al_raw_json text; /**< the bytes of the message */
};

#define AL_RPC_MESSAGE_INIT ((struct al_rpc_message){ .kind = AL_RPC_INVALID })

/** The position of al_rpc_doc_next(). */
struct al_rpc_cursor {
    size_t index;
    struct al_raw_json item;
};

#define AL_RPC_CURSOR_INIT ((struct al_rpc_cursor){ .index = 0 })

/** Get the next message of the line; false: no message is left.  Clears *message first. */
bool al_rpc_doc_next(const struct al_rpc_doc *doc, struct al_rpc_cursor *cursor,
                     struct al_rpc_message *message);
void al_rpc_message_clear(struct al_rpc_message *message);

/**
 * The canonical text of an id or a progress token: a string or an integer.
 * @param path  Member names from the message down, NULL-terminated.
 * @return NULL: absent, too long, or of another type.  Caller frees.
 */
char *al_rpc_token(const struct al_rpc_message *message, const char *const *path);

/** The reason why `params.arguments` is invalid for every tool, as a sentence; NULL: none. */
const char *al_rpc_arguments_problem(const struct al_rpc_message *message);

/** Test whether a value has more than `levels` levels of brackets. */
bool al_rpc_is_deeper(json_t *value, int levels);

/** Begin the line that answers request `id`.  The caller appends the result and calls al_rpc_end().
 */
void al_rpc_begin_result(struct al_str *out, const char *id);
void al_rpc_end(struct al_str *out);

/** Append a whole line with an error; `id` may be NULL. */
void al_rpc_add_error(struct al_str *out, const char *id, enum al_rpc_code code, const char *text);

/** The same with `data`, which is JSON text; NULL: none. */
void al_rpc_add_error_data(struct al_str *out, const char *id, enum al_rpc_code code,
                           const char *text, const char *data);

/** The value of the last member called `name`: jansson keeps the last as well. */
struct al_raw_json al_raw_json_member(struct al_raw_json object, const char *name);

/** The item after `item`, or the first if item.at is NULL.  at is NULL at the end. */
struct al_raw_json al_raw_json_next(struct al_raw_json array, struct al_raw_json item);

/** An upper bound of the number of values: the commas and brackets outside strings, plus one. */
size_t al_raw_json_count_values(struct al_raw_json text);

/**
 * A copy of the text with "e0" behind every integer of more than 18 digits, so that a parser
 * limited to 64 bits reads a real.  Malformed text stays malformed.  Caller frees; *ret_len is its
 * length.
 */
char *al_raw_json_widen(struct al_raw_json text, size_t *ret_len);

#endif
