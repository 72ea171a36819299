// SPDX-License-Identifier: Apache-2.0
/* NAME=VALUE words for a tool of another MCP server, read by the server's schema. */
#ifndef AL_CLI_ARGUMENTS_DEFINED_H
#define AL_CLI_ARGUMENTS_DEFINED_H

#include "tool/tool.h"

/** Add one argument.  A list takes one item from each word; numbers, booleans and objects are JSON;
 * a value that is not what the schema says stays a string, and the server reports it.
 *
 * @return 0; AL_ERR_BAD_ARGS: the schema does not have the name, or it is given twice.
 */
int al_arguments_add_defined(const struct al_tool *tool, const char *name, const char *text,
                             json_t *arguments, struct al_error *err);

#endif
