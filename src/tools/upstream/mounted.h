// SPDX-License-Identifier: Apache-2.0
/* Tools made from the definitions of other MCP servers, and the lists they are in. */
#ifndef AL_TOOLS_UPSTREAM_MOUNTED_H
#define AL_TOOLS_UPSTREAM_MOUNTED_H

#include <stdatomic.h>

#include "base/json.h"
#include "call/mounts.h"
#include "serve/upstream/upstream.h"

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
    char *name;
    char digest[65]; /**< of the definition */
};

/** A list with what its tools borrow. */
struct al_mounting {
    struct al_mounted_list list; /**< must be first */
    atomic_uint refs;
    struct al_mounted **tools;
    struct al_listed_tool *items;
    json_t **sources; /**< the list of each server; NULL: not known yet */
    size_t nsources;
    size_t bytes;              /**< of all definitions */
    struct al_strv left_out;   /**< "SERVER: 'tool' is …", safe lines */
    struct al_strv collisions; /**< "SERVER: git_status, git_log", one line for each server that has
                                  tools with the names of native ones */
};

/** What decides which tools are mounted. */
struct al_mount_rules {
    const struct al_registry *native;
    bool prefer_mcp;
};

/**
 * Make a list of the tools that the servers have now.  Servers that are not started are left out.
 * @return a list with one reference, for al_mounting_unref().
 */
struct al_mounting *al_mounting_new(struct al_mount *mounts, size_t nmounts,
                                    const struct al_mount_rules *rules);
void al_mounting_unref(struct al_mounting *mounting);

/** What a server lists now, for al_upstream_tools_unref(); NULL: nothing yet, or it is not started.
 */
json_t *al_mount_tools(const struct al_mount *mount);

/** Bytes of all definitions of one server, and of all servers: a client takes a line of 10 MiB, and
 * one server must not use it up. */
#define AL_MOUNT_MAX_BYTES  (1u << 20)
#define AL_MOUNTS_MAX_BYTES (8u << 20)

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

#endif
