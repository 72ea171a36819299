// SPDX-License-Identifier: Apache-2.0
/* Tools made from the definitions of other MCP servers, and the lists they are in. */
#ifndef AL_TOOLS_UPSTREAM_MOUNTED_H
#define AL_TOOLS_UPSTREAM_MOUNTED_H

#include <stdatomic.h>

#include "call/call.h"
#include "tools/upstream/mounts.h"

/** One server and what the configuration says of it. */
struct al_mount {
    struct al_upstream *upstream;
    struct al_toolset toolset; /**< its name is "mcp__SERVER"; has no tools of its own */
    char *toolset_name;
    bool limits_tools;
    struct al_strv tools; /**< the server's names of the tools that are mounted */
    uint32_t timeout_ms;
    atomic_bool started;
};

/** A tool of a list.  The pipeline sees `tool` alone. */
struct al_mounted {
    struct al_tool tool; /**< must be first */
    struct al_operation operation;
    const struct al_mount *mount;
    const json_t *definition; /**< borrowed from the list of the server */
    const char *upstream;     /**< the server's name of the tool; borrowed from it */
    char *name, *digest;      /**< the digest is that of the definition */
};

/*
 * A name is "mcp__SERVER__tool", within what every client and every model accepts: 64 letters,
 * digits, '_' and '-'.  A tool whose name does not fit is left out, since any other name for it
 * would have to be guessed.  The configuration makes sure that SERVER ends at the first "__".
 */

/** The length of SERVER in a name of the form "mcp__SERVER__tool"; 0: the name has another form.
 * SERVER begins after AL_MOUNTS_PREFIX. */
size_t al_mounted_server(const char *name);

/** Why the name of a tool does not fit: one line of safe text that begins with it.  NULL: it fits.
 * Caller frees. */
char *al_mounted_refusal(const char *server, const char *tool);

/** Fill the hooks of a tool that depend on its definition.  Returns the bytes of the definition. */
size_t al_mounted_init(struct al_mounted *mounted, const struct al_mount *mount,
                       const json_t *definition);

/**
 * The parameters of elicitation/create as they are passed on.
 *
 * @param params  As the server sent them.
 * @return an object, whose reference the caller owns; NULL: not a form with a message and a schema.
 */
json_t *al_question_params(const json_t *params, const char *server, const char *tool);

/*
 * The result of another MCP server, made safe and cut.
 *
 *   item of `content`     what becomes of it
 *   text                  sanitized; cut at the cap
 *   image, audio          as it is, if it is base64 and fits
 *   resource              its text sanitized and cut; a blob as it is, if it is base64 and fits
 *   resource_link         as it is, its text sanitized
 *   anything else         left out
 *
 * The place of something left out names it.  `structuredContent` keeps its value: only the way it
 * is written is safe.
 */

/** The most items that are looked at. */
#define AL_UPSTREAM_ITEMS_MAX 1000

/**
 * Fill `out` from a result: content, text, structured, meta, truncated.
 *
 * @param result     A result with the array `content`.
 * @param max_bytes  For all content together, and once more for the structured content.
 * @param server     The server's name, for messages.
 * @param has_schema The tool has an output schema, so its structured content cannot be left out.
 * @return 0; AL_ERR_EXECUTION: the server says that the tool failed, with `out` filled all the
 * same; or the structured content is too large to be left out, with nothing filled.
 */
int al_upstream_take_result(const json_t *result, size_t max_bytes, const char *server,
                            bool has_schema, struct al_result *out, struct al_error *err);

#endif
