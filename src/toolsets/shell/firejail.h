// SPDX-License-Identifier: Apache-2.0
/* Running a plan in firejail, for kernels without Landlock. */
#ifndef AL_TOOLSETS_SHELL_FIREJAIL_H
#define AL_TOOLSETS_SHELL_FIREJAIL_H

#include "toolsets/shell/run.h"

/**
 * Like al_shell_run(), but fills in an initialised outcome.
 *
 * @return As al_shell_run(), and AL_ERR_TIMEOUT.
 */
int al_shell_run_firejail(struct al_shell *shell, struct al_shell_plan *plan,
                          const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_shell_outcome *outcome, struct al_error *err);

#endif
