// SPDX-License-Identifier: Apache-2.0
/* Tools for people: when they ask, and one tool with its operations and parameters. */
#ifndef AL_CLI_SHOW_H
#define AL_CLI_SHOW_H

#include "cli/options.h"
#include "cli/setup.h"

/** Whether calls of a tool ask where no rule says otherwise: "none", "some" or "ask" (all). */
const char *al_tool_asking(const struct al_tool *tool);

/** When an operation asks only in a condition, that in words ("for …"); else NULL. */
const char *al_operation_condition(const struct al_tool *tool, const struct al_operation *op);

/** Append what there is to know to call a tool. */
void al_tool_show(const struct al_listed_tool *listed, const struct al_tool_defaults *defaults,
                  struct al_str *out);

/** `airlock tools TOOL` with these options (tools.c).  Returns the exit code. */
int al_tools_show_help(const struct al_options *options, const char *word);

/** There is no such tool in this session; says what was meant, or which toolset has it. */
int al_unknown_tool(const struct al_setup *setup, const char *word, struct al_error *err);

#endif
