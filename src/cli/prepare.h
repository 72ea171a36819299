// SPDX-License-Identifier: Apache-2.0
/* A session for one call from the command line. */
#ifndef AL_CLI_PREPARE_H
#define AL_CLI_PREPARE_H

#include "base/json.h"
#include "cli/setup.h"

/**
 * Set up a session for one call.  al_setup_clear() follows in every case.
 *
 * @param command        Name of the command, for error messages ("call").
 * @param argc, argv     The tool's name and its arguments as al_arguments_read() takes them.
 * @param ret_tool       Borrowed from the setup.
 * @param ret_arguments  The caller owns the reference.
 * @return 0; AL_ERR_BAD_ARGS for wrong words, configuration or roots; other errors of
 *         al_setup_session().
 */
int al_prepare_call(struct al_setup *setup, const char *command, const struct al_options *options,
                    int argc, char **argv, const struct al_listed_tool **ret_tool,
                    json_t **ret_arguments, struct al_error *err);

#endif
