// SPDX-License-Identifier: Apache-2.0
/* The environment of a git child, complete: nothing is inherited. */
#ifndef AL_GIT_ENVIRONMENT_H
#define AL_GIT_ENVIRONMENT_H

#include <stdbool.h>

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

/* --- Overrides --- */

/*
 * Configuration keys that a repository must not decide, and the values that take their place.
 *
 * Source: git-config(1) GIT_CONFIG_COUNT, docs/SECURITY-MODEL.md.
 */

/** Append what every child gets, as "key", "value" pairs. */
void al_overrides_add_always(struct al_strv *pairs, const char *excludes, const char *attributes);

/** Append what a child that writes gets besides. */
void al_overrides_add_writing(struct al_strv *pairs);

/** Append the pair that neutralises `key` if a repository must not decide it, once however often
 * the key is set.  True when it was a driver key not seen before. */
bool al_overrides_add_for(struct al_strv *pairs, const char *key);

/** Test whether a key only changes what is shown, who commits, or how a command of git's works: its
 * value can run nothing and leads nowhere.  Letter case does not matter. */
bool al_config_key_is_harmless(const char *key);

#endif
