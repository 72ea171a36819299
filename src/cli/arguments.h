// SPDX-License-Identifier: Apache-2.0
/* The arguments of a tool as words of a command line. */
#ifndef AL_CLI_ARGUMENTS_H
#define AL_CLI_ARGUMENTS_H

#include "tool/tool.h"

/**
 * Read the words behind the tool: an object as JSON, "-" (the object on standard input), and
 * NAME=VALUE, whose type is the parameter's.  A list takes one item from each NAME=VALUE.
 *
 * @param ret_arguments  The caller's reference; anything but an object is left to the pipeline.
 * @return 0 or AL_ERR_BAD_ARGS.
 */
int al_arguments_read(const struct al_tool *tool, int count, char **words, json_t **ret_arguments,
                      struct al_error *err);

#endif
