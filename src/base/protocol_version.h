// SPDX-License-Identifier: Apache-2.0
/* The supported revisions of MCP, of both eras, and the names that the newer one reserves. */
#ifndef AL_BASE_PROTOCOL_VERSION_H
#define AL_BASE_PROTOCOL_VERSION_H

#include <stdbool.h>

#include "base/str.h"

/** Members of `params._meta` in a modern request. */
#define AL_META_PREFIX       "io.modelcontextprotocol/"
#define AL_META_VERSION      AL_META_PREFIX "protocolVersion"
#define AL_META_CAPABILITIES AL_META_PREFIX "clientCapabilities"
#define AL_META_CLIENT       AL_META_PREFIX "clientInfo"

/** The member of `_meta` in a modern result. */
#define AL_META_SERVER AL_META_PREFIX "serverInfo"

/** The two families of revisions. */
enum al_era {
    AL_ERA_LEGACY = 1 << 0, /**< up to 2025-11-25: begins with an initialize handshake */
    AL_ERA_MODERN = 1 << 1, /**< from 2026-07-28: every request carries its envelope */
};

struct al_revision {
    const char *name;
    enum al_era era;
    bool batches;           /**< a line may be an array of messages */
    bool names_modes;       /**< an elicitation says its mode, "form" */
    bool names_first_event; /**< over HTTP, a stream begins with an event that only has an id */
};

/** The revision with this name; NULL: not supported. */
const struct al_revision *al_revision_find(const char *name);

/** The answer of `initialize` to a client that asks for this name: the same legacy revision, or the
 * newest legacy one. */
const struct al_revision *al_revision_agree(const char *name);

/** Append the names as a JSON array, newest first. */
void al_revision_add_list(struct al_str *out);

#endif
