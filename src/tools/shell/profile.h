// SPDX-License-Identifier: Apache-2.0
/* The profile that a program is started with: environment, resource limits and Landlock rules. */
#ifndef AL_TOOLS_SHELL_PROFILE_H
#define AL_TOOLS_SHELL_PROFILE_H

#include <stdint.h>

#include "base/error.h"
#include "proc/proc.h"
#include "tools/shell/rules.h"

struct al_shell;

/** A program that was found, and what it may access.  The shell keeps it until al_shell_free(). */
struct al_shell_program {
    struct al_shell_program *next;
    char *name; /**< as on the command line */
    char *path;
    struct al_ruleset *ruleset; /**< NULL: no Landlock */
    enum al_shell_kind kind;
};

void al_shell_program_free(struct al_shell_program *program);

/** Fill in the shell's environments.  Called once, by al_shell_new(). */
void al_shell_make_env(struct al_shell *shell);

/**
 * Find a program and build its ruleset.  Both are cached; a stale ruleset is built anew.  Safe to
 * call from several threads.
 *
 * @param ret_path     NULL when there is no such program; borrowed from the shell.
 * @param ret_ruleset  NULL without Landlock; borrowed from the shell.
 */
int al_shell_find(struct al_shell *shell, const char *name, const char **ret_path,
                  const struct al_ruleset **ret_ruleset, struct al_error *err);

/** The resource limits of a program that may run for `left_ms`. */
struct al_limits al_shell_limits(enum al_shell_kind kind, uint32_t left_ms);

#endif
