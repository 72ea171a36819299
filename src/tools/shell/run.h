// SPDX-License-Identifier: Apache-2.0
/* Running a plan. */
#ifndef AL_TOOLS_SHELL_RUN_H
#define AL_TOOLS_SHELL_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "git/repo/repo.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "tools/shell/plan.h"

/** The outcome of a run. */
struct al_shell_outcome {
    struct al_text out, err;
    int exit_code; /**< the last command's; -1 after a timeout */
    bool timed_out;
    bool stopped; /**< the output reached its limit */
};

void al_shell_outcome_clear(struct al_shell_outcome *outcome);

/** A program's exit code as bash reports it: 128 + the number for a signal.  A program that was
 * stopped at the output limit counts as successful. */
int al_shell_code_of(const struct al_proc_result *result);

/**
 * Run a plan in the first root.  The plan's words may be changed.
 *
 * @param repo  The repository that the root is in, for git commands.  NULL: none.
 * @return 0, also when a command fails or times out; AL_ERR_CANCELLED; AL_ERR_EXECUTION or
 *         AL_ERR_SANDBOX when a redirect or a program cannot be opened.
 */
int al_shell_run(struct al_shell *shell, struct al_shell_plan *plan, const struct al_repo *repo,
                 struct al_run_limits *budget, size_t max_bytes,
                 struct al_shell_outcome *ret_outcome, struct al_error *err);

#endif
