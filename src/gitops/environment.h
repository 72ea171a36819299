// SPDX-License-Identifier: Apache-2.0
/*
 * The environment of a git child, complete: nothing is inherited.
 *
 * Every child has some forty entries and most are the same for all, so that they are borrowed from
 * where they are kept: a call would spend more time on their copies than on its decisions.
 */
#ifndef AL_GITOPS_ENVIRONMENT_H
#define AL_GITOPS_ENVIRONMENT_H

#include "gitops/command.h"
#include "util/str.h"

/** Entries, "NAME=value".  Private but for `entries`. */
struct al_git_env {
    const char **entries; /**< NULL-terminated; what to give to a child */
    size_t count, room;
    struct al_strv owned; /**< those that nobody else keeps */
};

#define AL_GIT_ENV_INIT ((struct al_git_env){ .entries = NULL })

void al_git_env_clear(struct al_git_env *env);

/** Append an entry that is kept elsewhere for as long as `env` is used. */
void al_git_env_borrow(struct al_git_env *env, const char *entry);

/** Append "NAME=value". */
void al_git_env_add(struct al_git_env *env, const char *name, const char *value);

/** The entry that has git read the objects of one more directory.  Caller frees. */
char *al_git_alternate(const char *objects);

/** What every git child gets, whatever it does. */
void al_git_env_base(struct al_git_env *env, const struct al_git_command *command);

/** All that a command gets.  Borrows from `repo` and `command`, and what they point to. */
void al_git_command_env(struct al_git_env *env, const struct al_location *at,
                        const struct al_git_command *command);

#endif
