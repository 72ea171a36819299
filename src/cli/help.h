// SPDX-License-Identifier: Apache-2.0
/* The texts of --help. */
#ifndef AL_CLI_HELP_H
#define AL_CLI_HELP_H

#include "base/error.h"
#include "call/registry.h"
#include "cli/config/config.h"
#include "cli/config/worker.h"

/** The tools that names can be of.  Borrowed. */
struct al_known {
    const struct al_toolset_registry *toolsets;
    const struct al_mcp_servers *servers; /**< whose tools are not known before they are started */
};

/** Print the overview to stdout.  Returns the exit code. */
int al_help_overview(void);

/** Print one command's help to stdout.  Returns the exit code: AL_EXIT_USAGE for an unknown
 * command. */
int al_help_command(const char *command);

/**
 * Check that every rule and grant can match: its pattern matches a tool of some toolset, and its
 * operation belongs to such a tool; or it can match the name of a tool of a configured MCP server.
 * A misspelt rule would protect nothing.
 *
 * @return 0, or AL_ERR_BAD_ARGS with file, line and the nearest name.
 */
int al_check_known_names(const struct al_known *known, const struct al_config *config,
                         struct al_error *err);

/** The same for the rules and the grant of a worker file. */
int al_check_worker_names(const struct al_known *known, const struct al_worker *worker,
                          struct al_error *err);

#endif
