// SPDX-License-Identifier: Apache-2.0
/* The MCP server over HTTP. */
#ifndef AL_SERVE_COMMAND_HTTP_H
#define AL_SERVE_COMMAND_HTTP_H

#include "cli/options.h"
#include "cli/setup.h"

/**
 * Serve until SIGTERM or SIGINT; SIGHUP reads the configuration and the token file again.
 *
 * @param setup  After al_setup_session(), with `many_agents` and at least one place to listen at.
 * @return the exit code.
 */
int al_serve_http(struct al_setup *setup, const struct al_options *options);

#endif
