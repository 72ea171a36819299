// SPDX-License-Identifier: Apache-2.0
/*
 * What the headers of a request have to say about its body.
 *
 *   header                modern                          legacy
 *   Content-Type          application/json                application/json
 *   Accept                both types, or missing          both types, or missing
 *   MCP-Protocol-Version  that of the envelope            a revision of this era, or missing
 *   Mcp-Method            the method                      ignored
 *   Mcp-Name              the tool, prompt or resource    ignored
 *
 * Source: MCP 2026-07-28 and 2025-11-25, "Streamable HTTP"; RFC 9110, section 12.5.1.
 */
#ifndef AL_MCP_HTTP_RULES_H
#define AL_MCP_HTTP_RULES_H

#include <stdbool.h>

#include "util/json.h"

struct al_http_request;
struct al_rpc_message;

/** Test whether a Content-Type (NULL: missing) is JSON. */
bool al_rules_is_json(const char *content_type);

/** Test whether an Accept header (NULL: missing) takes a type, "application/json" say. */
bool al_rules_accepts(const char *accept, const char *type);

/** Test whether the version header names the modern revision. */
bool al_rules_says_modern(const struct al_http_request *request);

/** Why the version header of a legacy request cannot be served, as a sentence; NULL: it can. */
const char *al_rules_check_legacy(const struct al_http_request *request);

/** How the headers of a modern request differ from the message, as a sentence; NULL: they do not.
 *
 * @param version  Of the envelope; NULL: the message has none. */
const char *al_rules_check_modern(const struct al_http_request *request,
                                  const struct al_rpc_message *message, const char *version);

#endif
