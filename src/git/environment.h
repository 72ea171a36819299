// SPDX-License-Identifier: Apache-2.0
/* The environment of a git child, complete: nothing is inherited. */
#ifndef AL_GIT_ENVIRONMENT_H
#define AL_GIT_ENVIRONMENT_H

#include "base/str.h"
#include "git/command.h"

/** Append a text in quotes, as git reads it in its configuration, in lists of paths and in the
 * stream of git-fast-import(1). */
void al_git_quote(struct al_str *out, const char *text);

/** The entry with which git also reads the objects of other directories.  Caller frees. */
char *al_git_alternates(const struct al_strv *dirs);

/** Append everything that a command gets, as "NAME=value". */
void al_git_command_env(struct al_strv *env, const struct al_location *at,
                        const struct al_git_command *command);

#endif
