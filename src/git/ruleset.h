// SPDX-License-Identifier: Apache-2.0
/* The Landlock ruleset of each class of git child; docs/SECURITY-MODEL.md says why each rule is
 * there. */
#ifndef AL_GIT_RULESET_H
#define AL_GIT_RULESET_H

#include "base/error.h"
#include "git/command.h"
#include <stdbool.h>

struct al_git;

/**
 * Make the ruleset for a command.  In a location that is_own nothing of the user's files and
 * folders may be read or written, only the repository itself and, by a command that borrows or has
 * a cwd_fd, what its lender has.  The caller closes it with al_ruleset_free(); 0 when the kernel
 * has no Landlock.
 */
int al_git_ruleset(const struct al_location *at, const struct al_git_command *command,
                   int *ret_ruleset_fd, struct al_error *err);

#endif
