// SPDX-License-Identifier: Apache-2.0
/* [mcp.servers.NAME]: other MCP servers that the user lets agents reach through airlock. */
#ifndef AL_CONFIG_MCP_SERVER_H
#define AL_CONFIG_MCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

#define AL_MCP_SERVERS_MAX            32u
#define AL_MCP_SERVER_NAME_MAX_BYTES  32u
#define AL_MCP_SERVER_TIMEOUT_DEFAULT 30000
#define AL_MCP_SERVER_TIMEOUT_MIN     100
#define AL_MCP_SERVER_TIMEOUT_MAX     600000

/** One server.  All strings are owned. */
struct al_mcp_server {
    /** Letters, digits, '-' and '_'.  It neither contains "__" nor ends with '_', so the server and
     * the tool can be told from the name "mcp__NAME__tool". */
    char *name;
    struct al_strv command; /**< the program and its arguments; never empty */
    struct al_strv env;     /**< "NAME=value", in addition to the standard environment */
    bool limits_tools;      /**< false: every tool of the server is mounted */
    struct al_strv tools;   /**< the server's own names of the tools that are mounted */
    bool confine;           /**< false: the server runs with the rights of the user */
    uint32_t timeout_ms;    /**< for the start, for a list and for each call */
    struct {
        struct al_strv read, write, exec; /**< absolute paths, beside the roots */
        bool network;
    } allow;       /**< what a confined server may use */
    unsigned line; /**< of the file, where the server begins */
};

/** The configured servers, sorted by name. */
struct al_mcp_servers {
    struct al_mcp_server *items;
    size_t count;
};

void al_mcp_servers_clear(struct al_mcp_servers *servers);

/** Copy all servers into an empty list. */
void al_mcp_servers_copy(struct al_mcp_servers *to, const struct al_mcp_servers *from);

#endif
