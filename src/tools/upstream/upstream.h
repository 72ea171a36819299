// SPDX-License-Identifier: Apache-2.0
/* The tools of other MCP servers as a session is given them. */
#ifndef AL_TOOLS_UPSTREAM_UPSTREAM_H
#define AL_TOOLS_UPSTREAM_UPSTREAM_H

#include "serve/upstream/upstream.h"
#include "tools/upstream/mounts.h"

/** One configured server.  Borrowed while al_upstream_mounts_new() runs. */
struct al_mount_options {
    struct al_upstream_settings settings; /**< without `on_tools` and `payload` */
    bool limits_tools;                    /**< false: every tool is mounted */
    const struct al_strv *tools;          /**< the server's names of the tools that are mounted */
};

/** Make the mounts of a session.  Starts nothing.
 *
 * @param options     The servers, sorted by name.
 * @param native      The native tools of the session.  Borrowed.
 * @param prefer_mcp  False: a tool with the name of a native one is left out.
 * Ownership: al_upstream_mounts_free().
 */
struct al_mounts *al_upstream_mounts_new(const struct al_mount_options *options, size_t noptions,
                                         const struct al_registry *native, bool prefer_mcp);

/** End all servers, and wait until they are gone.  After the last call; NULL is fine. */
void al_upstream_mounts_free(struct al_mounts *mounts);

/** The number of servers, and each of them.  Borrowed. */
size_t al_upstream_mounts_count(const struct al_mounts *mounts);
struct al_upstream *al_upstream_mounts_server(const struct al_mounts *mounts, size_t which);

/** Append a line for each tool that is not mounted because its name does not fit: "SERVER: 'tool'
 * is too long …"; and for each tool that the configuration names and the server does not have.
 *
 * @param found           From al_mounts_list() of these mounts.
 * @param ret_collisions  A line for each server that has tools with the names of native ones:
 *                        "SERVER: git_status, git_log".
 */
void al_upstream_mounts_left_out(const struct al_mounts *mounts,
                                 const struct al_mounted_list *found, struct al_strv *ret_lines,
                                 struct al_strv *ret_collisions);

#endif
