// SPDX-License-Identifier: Apache-2.0
/* The supported revisions of MCP, of both eras. */
#ifndef AL_MCP_PROTOCOL_VERSION_H
#define AL_MCP_PROTOCOL_VERSION_H

#include <stdbool.h>

#include "mcp/approval_form.h"
#include "util/str.h"

/** The two families of revisions. */
enum al_era {
    AL_ERA_LEGACY = 1 << 0, /**< up to 2025-11-25: begins with an initialize handshake */
    AL_ERA_MODERN = 1 << 1, /**< from 2026-07-28: every request carries its envelope */
};

struct al_revision {
    const char *name;
    enum al_era era;
    bool batches;               /**< a line may be an array of messages */
    enum al_approval_form form; /**< for clients that can show one */
};

/** The revision with this name; NULL: not supported. */
const struct al_revision *al_revision_find(const char *name);

/** The answer of `initialize` to a client that asks for this name: the same legacy revision, or the
 * newest legacy one. */
const struct al_revision *al_revision_agree(const char *name);

/** Append the names as a JSON array, newest first. */
void al_revision_add_list(struct al_str *out);

#endif
