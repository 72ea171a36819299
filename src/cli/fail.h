// SPDX-License-Identifier: Apache-2.0
/* The message and the exit code of a command that could not begin. */
#ifndef AL_CLI_FAIL_H
#define AL_CLI_FAIL_H

#include "util/error.h"

/** Print "airlock: <message>" and the remedy to stderr.  Returns AL_EXIT_USAGE for AL_ERR_BAD_ARGS
 * and AL_ERR_NOT_FOUND, else AL_EXIT_FAILED. */
int al_cli_fail(const struct al_error *err);

#endif
