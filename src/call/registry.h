// SPDX-License-Identifier: Apache-2.0
/*
 * Toolsets, the named lists of tools, and the registry: the tools of the toolsets that were chosen.
 */
#ifndef AL_CALL_REGISTRY_H
#define AL_CALL_REGISTRY_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "call/tool.h"

struct al_grant;
struct al_session;
struct al_value;

/** A named list of tools. */
struct al_toolset {
    const char *name;
    const char *about;
    const struct al_tool *const *tools; /**< NULL-terminated, in the order clients see them */
    bool is_for_commands; /**< no session offers it: commands of the program make its calls */
};

/** Every toolset there is, in the order in which they are listed: each has another name. */
struct al_toolset_registry {
    const struct al_toolset *items;
    size_t count;
};

/** One tool as a client sees it. */
struct al_listed_tool {
    const struct al_toolset *toolset;
    const struct al_tool *tool;
};

/** The tools of the chosen toolsets.  The earlier of two toolsets wins that have a tool of the same
 * name. */
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
 *         empty.
 */
int al_registry_fill(struct al_registry *registry, const struct al_toolset_registry *all,
                     const struct al_strv *names, struct al_error *err);
void al_registry_clear(struct al_registry *registry);

/** The tool of this name, borrowed; NULL when the registry has none. */
const struct al_listed_tool *al_registry_find(const struct al_registry *registry, const char *name);

/**
 * The tool that `name` may have been meant for: the name in another case, with a client's prefix,
 * without "git_", or with a typing error.  Tools outside `grant` (NULL: everything is granted) do
 * not count.
 *
 * @return The name in the registry, or the names of the two tools that stand for a command of git:
 *         text for a message, borrowed.  NULL when none is near.
 */
const char *al_registry_nearest(const struct al_registry *registry, const struct al_grant *grant,
                                const char *name);

/** The toolset of this name, borrowed; NULL: there is none. */
const struct al_toolset *al_toolset_find(const struct al_toolset_registry *registry,
                                         const char *name);

/** The names of all toolsets, "git, workflow".  Caller frees. */
char *al_toolset_names(const struct al_toolset_registry *registry);

/** The first tool of this name in any toolset, borrowed; `tool` is NULL when there is none. */
struct al_listed_tool al_toolset_find_tool(const struct al_toolset_registry *registry,
                                           const char *name);

#endif
