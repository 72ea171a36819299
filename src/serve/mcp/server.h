// SPDX-License-Identifier: Apache-2.0
/*
 * The MCP server on a pair of descriptors: newline-delimited JSON-RPC of the revisions 2024-11-05
 * to 2025-11-25 and 2026-07-28.  The revision is determined for each message (serve/mcp/reply.h).
 *
 * Source: https://modelcontextprotocol.io/specification, "stdio" transport.
 */
#ifndef AL_SERVE_MCP_SERVER_H
#define AL_SERVE_MCP_SERVER_H

struct al_cancel;
struct al_session;

struct al_mcp_options {
    const struct al_session *session;
    int in_fd;
    int out_fd;                    /**< only protocol messages are written to it */
    const char *version;           /**< of airlock, for serverInfo */
    const struct al_cancel *ready; /**< fires when calls of tools may begin; until then they wait,
                                        and other requests are answered.  NULL: at once */
};

/**
 * Serve until the end of input, or until the client closes the output.
 *
 * SIGPIPE must be ignored (al_proc_init() does that).
 *
 * @return 0 after all calls were cancelled and all threads have ended; a negative enum al_status
 *         when the server could not start, which is logged.
 */
int al_mcp_serve(const struct al_mcp_options *options);

#endif
