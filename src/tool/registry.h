// SPDX-License-Identifier: Apache-2.0
/*
 * Toolsets, the named lists of tools, and the registry: the tools of the toolsets that were chosen.
 */
#ifndef AL_TOOL_REGISTRY_H
#define AL_TOOL_REGISTRY_H

#include <stddef.h>

#include "tool/tool.h"
#include "util/error.h"
#include "util/str.h"

struct al_toolset_context;
struct al_toolset_registry;

/** A named list of tools. */
struct al_toolset {
    const char *name;
    const char *about;
    const struct al_tool *const *tools; /**< NULL-terminated, in the order clients see them */

    /** Read the toolset's settings in a worker file, and keep them in the session.  Called through
     * al_toolset_configure().  NULL: there are no settings. */
    int (*configure)(const struct al_toolset_context *context, struct al_error *err);
};

/** One tool as a client sees it. */
struct al_listed_tool {
    const struct al_toolset *toolset;
    const struct al_tool *tool;
};

/** The tools of the chosen toolsets.  If two toolsets have a tool of the same name, the earlier
 * toolset wins. */
struct al_registry {
    struct al_listed_tool *items;
    size_t count;
    struct al_strv notes; /**< for the log: the tools that an earlier toolset replaced */
};

#define AL_REGISTRY_INIT ((struct al_registry){ .items = NULL })

/**
 * Fill a registry.
 *
 * @param all    Every toolset there is.
 * @param names  The chosen toolsets, in order of precedence.
 * @return 0, or AL_ERR_BAD_ARGS naming the unknown toolset and the valid ones; the registry is then
 *         unchanged.
 */
int al_registry_fill(struct al_registry *registry, const struct al_toolset_registry *all,
                     const struct al_strv *names, struct al_error *err);
void al_registry_clear(struct al_registry *registry);

/** The tool of this name, borrowed; NULL when the registry has none. */
const struct al_listed_tool *al_registry_find(const struct al_registry *registry, const char *name);

#endif
