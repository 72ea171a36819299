// SPDX-License-Identifier: Apache-2.0
/* The texts of --help. */
#ifndef AL_CLI_HELP_H
#define AL_CLI_HELP_H

/** Print the overview to stdout.  Returns the exit code. */
int al_help_overview(void);

/** Print one command's help to stdout.  Returns the exit code: AL_EXIT_USAGE for an unknown
 * command. */
int al_help_command(const char *command);

#endif
