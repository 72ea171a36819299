// SPDX-License-Identifier: Apache-2.0
/* The process environment as the setup reads it. */
#ifndef AL_CLI_ENVIRONMENT_H
#define AL_CLI_ENVIRONMENT_H

#include <stdbool.h>

/** The value of an environment variable.  NULL: unset or empty. */
const char *al_environment_get(const char *name);

/** `path` as an absolute path, relative to the current directory.  Caller frees. */
char *al_environment_absolute(const char *path);

/** Whether a directory or one above it contains a `.git`. */
bool al_environment_has_repository(const char *start);

/** The canonical form of an absolute path.  What does not exist yet is added as it is.  Caller
 * frees. */
char *al_environment_canonical(const char *path);

#endif
