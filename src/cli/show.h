// SPDX-License-Identifier: Apache-2.0
/* Help about tools: when they ask for approval, their operations and their parameters. */
#ifndef AL_CLI_SHOW_H
#define AL_CLI_SHOW_H

#include "cli/options.h"
#include "cli/setup.h"

/** Which operations of a tool ask for approval when no rule decides: "none", "some" or "ask" (all).
 * In the approval mode "allow" none does; in the mode "deny" they are refused, so "deny" stands for
 * "ask".  Without checkpoints, and in the mode "deny", what is only not asked about because of them
 * counts as asking. */
const char *al_tool_asking(const struct al_tool *tool, const struct al_config *config);

/** The condition under which an operation asks for approval, as words ("for …").  NULL: the
 * operation always or never asks.
 *
 * @param saves  Whether checkpoints are taken. */
const char *al_operation_condition(const struct al_tool *tool, const struct al_operation *op,
                                   bool saves);

/** Append the help text of a tool. */
void al_tool_show(const struct al_listed_tool *listed, const struct al_tool_defaults *defaults,
                  const struct al_config *config, struct al_str *out);

/** Print the help text of the tool `word`, in a session with these options.  Defined in tools.c.
 * Returns the exit code. */
int al_tools_show_help(const struct al_options *options, const char *word);

/** The error AL_ERR_BAD_ARGS for a tool that the session does not have: names the nearest tool, or
 * the toolset that has it. */
int al_unknown_tool(const struct al_setup *setup, const char *word, struct al_error *err);

#endif
