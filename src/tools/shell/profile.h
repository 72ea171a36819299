// SPDX-License-Identifier: Apache-2.0
/* The profile that a program is started with: environment, resource limits and Landlock rules. */
#ifndef AL_TOOLS_SHELL_PROFILE_H
#define AL_TOOLS_SHELL_PROFILE_H

#include <stdint.h>

#include "base/error.h"
#include "proc/proc.h"
#include "tools/shell/rules.h"

struct al_shell;

/** A program that was found, and what it may access.  Set up with zeros. */
struct al_shell_program {
    char *path;     /**< NULL: there is no such program */
    int ruleset_fd; /**< 0: no Landlock */
};

void al_shell_program_clear(struct al_shell_program *program);

/** Fill in the shell's environments.  Called once, by al_shell_new(). */
void al_shell_make_env(struct al_shell *shell);

/** Find a program and build its ruleset.  Safe to call from several threads. */
int al_shell_find(const struct al_shell *shell, const char *name,
                  struct al_shell_program *ret_program, struct al_error *err);

/** The resource limits of a program that may run for `left_ms`. */
struct al_limits al_shell_limits(enum al_shell_kind kind, uint32_t left_ms);

#endif
