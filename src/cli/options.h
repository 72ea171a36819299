// SPDX-License-Identifier: Apache-2.0
/* Reading the options of a command line. */
#ifndef AL_CLI_OPTIONS_H
#define AL_CLI_OPTIONS_H

#include <stdbool.h>

#include "cli/config/given.h"

struct al_command;

/**
 * Read the options of a command among its words up to "--".  Errors are reported, and --help is
 * shown.
 *
 * @param argc, argv  The words behind the command's name.  On return those that are no options.
 * @return false: the command is over, with this exit code.
 */
bool al_options_take(struct al_options *options, const struct al_command *command, int *argc,
                     char **argv, int *ret_code);

#endif
