// SPDX-License-Identifier: Apache-2.0
/*
 * The environment of a git child, complete: nothing is inherited.
 *
 * A child has about forty entries, and most are the same for all children.  Those are borrowed,
 * since copying them would take more time than the rest of a short call.
 */
#ifndef AL_GIT_ENVIRONMENT_H
#define AL_GIT_ENVIRONMENT_H

#include "base/str.h"
#include "git/command.h"

/** "NAME=value" entries.  Private, except for `entries`. */
struct al_git_env {
    const char **entries; /**< NULL-terminated; for execve(2) */
    size_t count, room;
    struct al_strv owned; /**< the entries that are not borrowed */
};

#define AL_GIT_ENV_INIT ((struct al_git_env){ .entries = NULL })

void al_git_env_clear(struct al_git_env *env);

/** Append a borrowed entry, which has to outlive `env`. */
void al_git_env_borrow(struct al_git_env *env, const char *entry);

/** Append "NAME=value". */
void al_git_env_add(struct al_git_env *env, const char *name, const char *value);

/** Append a text in quotes, as git reads it in its configuration, in lists of paths and in the
 * stream of git-fast-import(1). */
void al_git_quote(struct al_str *out, const char *text);

/** The entry with which git also reads the objects of other directories.  Caller frees. */
char *al_git_alternates(const struct al_strv *dirs);

/** Append what every git child gets. */
void al_git_env_base(struct al_git_env *env, const struct al_git_command *command);

/** Append everything that a command gets.  Borrows from `at`, `command` and what they point to. */
void al_git_command_env(struct al_git_env *env, const struct al_location *at,
                        const struct al_git_command *command);

#endif
