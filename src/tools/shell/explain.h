// SPDX-License-Identifier: Apache-2.0
/* The reason for a program's failure, where its own message does not tell. */
#ifndef AL_TOOLS_SHELL_EXPLAIN_H
#define AL_TOOLS_SHELL_EXPLAIN_H

#include <stdbool.h>

#include "guard/text.h"
#include "tools/shell/plan.h"

/** Test whether the exit code only means that the last command, a search, found nothing. */
bool al_shell_found_nothing(const struct al_shell_plan *plan, int exit_code);

/** Append to `errors` which arguments lie outside the roots, if a program reported "Permission
 * denied" for them. */
void al_shell_add_refused(const struct al_shell *shell, const struct al_shell_plan *plan,
                          struct al_text *errors);

#endif
