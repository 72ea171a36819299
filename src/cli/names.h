// SPDX-License-Identifier: Apache-2.0
/* The names of all tools and operations there are, which rules, grants and words can mean. */
#ifndef AL_CLI_NAMES_H
#define AL_CLI_NAMES_H

#include <stdbool.h>

#include "base/nearest.h"
#include "cli/setup.h"

/**
 * Check that every rule and grant can match: its pattern matches a tool of some toolset, and its
 * operation belongs to such a tool; or it can match the name of a tool of a configured MCP server.
 * A misspelt rule would protect nothing.
 *
 * @return 0, or AL_ERR_BAD_ARGS with file, line and the nearest name.
 */
int al_names_check(const struct al_setup *setup, const struct al_config *config,
                   struct al_error *err);

/** The same for the rules and the grant of the worker file. */
int al_names_check_worker(const struct al_setup *setup, struct al_error *err);

/** Offer the names of the tools of all toolsets. */
void al_names_offer(struct al_nearest *nearest);

/** Test whether a rule can match one of the calls of a tool. */
bool al_names_may_match(const struct al_rule *rule, const struct al_tool *tool);

/** Test whether a pattern (NULL: every name) can match a tool of another MCP server.  Only the
 * server knows its tools. */
bool al_names_may_be_mounted(const struct al_setup *setup, const char *pattern);

#endif
