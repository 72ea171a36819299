// SPDX-License-Identifier: Apache-2.0
/* The process environment as the setup reads it. */
#ifndef AL_CLI_ENVIRONMENT_H
#define AL_CLI_ENVIRONMENT_H

#include <stdbool.h>

#include "base/str.h"

/** The value of an environment variable.  NULL: unset or empty. */
const char *al_environment_get(const char *name);

/** `path` as an absolute path, relative to the current directory.  Caller frees. */
char *al_environment_absolute(const char *path);

/** The directory itself, or the nearest one above it, that contains a `.git`.  NULL: none.  Caller
 * frees. */
char *al_environment_repository(const char *start);

/** The canonical form of an absolute path.  Names that do not exist yet are added as they are.
 * Caller frees. */
char *al_environment_canonical(const char *path);

/** The first of some absolute paths that is beneath `path` or is it; with `inside` the first one
 * that `path` is beneath.  Links are followed.  NULL: none.  Borrowed from the list. */
const char *al_environment_overlap(const struct al_strv *paths, const char *path, bool inside);

#endif
