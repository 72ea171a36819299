// SPDX-License-Identifier: Apache-2.0
/*
 * The few keys of the user's own configuration that a child gets, in a file that stands in for
 * ~/.gitconfig.  The repository's own values win over them, as they do in git.
 */
#ifndef AL_GIT_VET_USER_CONFIG_H
#define AL_GIT_VET_USER_CONFIG_H

#include <stdbool.h>

#include "base/str.h"

/** Test whether a key of the user's configuration goes into GIT_CONFIG_GLOBAL. */
bool al_user_config_wants(const char *key);

/** Append one value in git's file format. */
void al_user_config_add(struct al_str *out, const char *key, const char *value);

#endif
