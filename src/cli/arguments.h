// SPDX-License-Identifier: Apache-2.0
/* The arguments of a tool on a command line. */
#ifndef AL_CLI_ARGUMENTS_H
#define AL_CLI_ARGUMENTS_H

#include "tool/tool.h"

/**
 * Read the words after the tool's name.
 *
 *   JSON         the arguments as an object, at most once
 *   -            the same, from standard input
 *   NAME=VALUE   one argument, converted to the parameter's type; for a list, one item of it
 *
 * @param ret_arguments  The caller owns the reference.  The value need not be an object; the
 *                       pipeline checks that.
 * @return 0 or AL_ERR_BAD_ARGS.
 */
int al_arguments_read(const struct al_tool *tool, int count, char **words, json_t **ret_arguments,
                      struct al_error *err);

#endif
