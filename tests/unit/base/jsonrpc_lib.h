// SPDX-License-Identifier: Apache-2.0
/* One line of JSON-RPC and its first message, for the tests of base/jsonrpc.c. */
#ifndef TESTS_UNIT_WIRE_JSONRPC_LIB_H
#define TESTS_UNIT_WIRE_JSONRPC_LIB_H

#include "base/jsonrpc.h"
#include "tests/lib/assert.h"

struct line {
    struct al_rpc_doc doc;
    struct al_rpc_message message;
    struct al_rpc_cursor cursor;
};

static inline void line_clear(struct line *line)
{
    al_rpc_message_clear(&line->message);
    al_rpc_doc_clear(&line->doc);
}

/* Parse text that must be JSON, up to its first message. */
static inline struct line parse(const char *text)
{
    struct line line = { AL_RPC_DOC_INIT, AL_RPC_MESSAGE_INIT, AL_RPC_CURSOR_INIT };
    const char *problem = NULL;

    print_message("  %.100s\n", text);
    assert_int_equal(al_rpc_parse(text, strlen(text), &line.doc, &problem), AL_RPC_OK);
    assert_null(problem);
    assert_true(al_rpc_doc_next(&line.doc, &line.cursor, &line.message));
    return line;
}

#endif
