// SPDX-License-Identifier: Apache-2.0
/*
 * The registry of toolsets.  Each toolset registers itself, and everything else finds it by name:
 * nothing but src/toolsets/toolsets.c has a list of them.
 */
#ifndef AL_TOOL_TOOLSET_REGISTRY_H
#define AL_TOOL_TOOLSET_REGISTRY_H

#include <stddef.h>

#include "tool/registry.h"
#include "util/error.h"

struct al_session;
struct al_yaml;

/** Every toolset there is, in the order of registration.  Not thread-safe: filled at start. */
struct al_toolset_registry {
    const struct al_toolset **items;
    size_t count;
};

#define AL_TOOLSET_REGISTRY_INIT ((struct al_toolset_registry){ .items = NULL })

/** Forget every toolset; the registry can be filled again. */
void al_toolset_registry_clear(struct al_toolset_registry *registry);

/**
 * Register a toolset.
 *
 * @param toolset  Borrowed; outlives the registry.
 * @return 0, or AL_ERR_BAD_ARGS 'Toolset "X" already registered'.
 */
int al_toolset_register(struct al_toolset_registry *registry, const struct al_toolset *toolset,
                        struct al_error *err);

/** The toolset of this name, borrowed; NULL: there is none. */
const struct al_toolset *al_toolset_find(const struct al_toolset_registry *registry,
                                         const char *name);

/** The names of all toolsets, "git, workflow".  Caller frees. */
char *al_toolset_names(const struct al_toolset_registry *registry);

/** The first tool of this name in any toolset, borrowed; `tool` is NULL when there is none. */
struct al_listed_tool al_toolset_find_tool(const struct al_toolset_registry *registry,
                                           const char *name);

/** What a toolset is configured with. */
struct al_toolset_context {
    const struct al_yaml *config; /**< a mapping, which may be empty */
    const char *worker;           /**< the name in the worker file */
    struct al_session *session;   /**< being set up: gets what the toolset keeps of `config` */
};

/**
 * Configure a toolset by a worker file.  A toolset without settings refuses every key.
 *
 * @return 0, or AL_ERR_BAD_ARGS with one line of safe text, "<file>:<line>: <key>: <what is
 *         wrong>".
 */
int al_toolset_configure(const struct al_toolset *toolset, const struct al_toolset_context *context,
                         struct al_error *err);

#endif
