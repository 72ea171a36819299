// SPDX-License-Identifier: Apache-2.0
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
 * What is left out is named in its place.  `structuredContent` keeps its value: only the way it is
 * written is safe.
 */
#ifndef AL_TOOLS_UPSTREAM_CONTENT_H
#define AL_TOOLS_UPSTREAM_CONTENT_H

#include <stddef.h>

#include "call/call.h"

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
