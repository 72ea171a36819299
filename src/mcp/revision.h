// SPDX-License-Identifier: Apache-2.0
/* The revisions of MCP that are spoken, of both eras. */
#ifndef AL_MCP_REVISION_H
#define AL_MCP_REVISION_H

#include <stdbool.h>

#include "mcp/approval_form.h"
#include "util/str.h"

/** Which rules a message follows. */
enum al_era {
    AL_ERA_LEGACY = 1 << 0, /**< a handshake, then requests: up to 2025-11-25 */
    AL_ERA_MODERN = 1 << 1, /**< every request says everything: from 2026-07-28 */
};

struct al_revision {
    const char *name;
    enum al_era era;
    bool batches;
    enum al_approval_form form; /**< for clients that can be asked */
};

/** The revision with this name; NULL when it is not spoken. */
const struct al_revision *al_revision_find(const char *name);

/** What `initialize` answers to this name: the same, or the newest one that has a handshake. */
const struct al_revision *al_revision_agree(const char *name);

/** Append the names as a JSON array, newest first. */
void al_revision_add_list(struct al_str *out);

#endif
