// SPDX-License-Identifier: Apache-2.0
/* A command line that was checked and is ready to run. */
#ifndef AL_TOOLS_SHELL_PLAN_H
#define AL_TOOLS_SHELL_PLAN_H

#include "base/error.h"
#include "base/str.h"
#include "guard/redirect.h"
#include "guard/root.h"
#include "tools/shell/parse.h"
#include "tools/shell/rules.h"

struct al_shell;

/** One command of the pipeline, checked and with its patterns expanded. */
struct al_shell_step {
    enum al_shell_kind kind;
    struct al_strv words;                       /**< the command first */
    const struct al_shell_redirects *redirects; /**< borrowed from `pipeline` of the plan */
    struct al_redirect to[AL_SHELL_STREAMS];    /**< the same, resolved; empty where nothing is
                                                   redirected */
};

/** A pipeline.  A call makes its plan once, so that exactly what was checked is run. */
struct al_shell_plan {
    struct al_shell_pipeline pipeline;
    struct al_shell_step steps[AL_SHELL_STAGES_MAX];
    size_t nsteps;
};

#define AL_SHELL_PLAN_INIT ((struct al_shell_plan){ .pipeline = { .stages = NULL } })

void al_shell_plan_clear(struct al_shell_plan *plan);

/** Open the files of a step that its streams are redirected to.  `fds` begin and stay as -1 where
 * nothing is redirected.  0, AL_ERR_EXECUTION or AL_ERR_SANDBOX. */
int al_shell_step_open(const struct al_shell_step *step, int fds[AL_SHELL_STREAMS],
                       struct al_error *err);

/**
 * Plan a command line: parse it, check it, and expand its patterns.
 *
 * Every command has to be on the whitelist.  The rules are checked before and after expansion.
 * Redirects have to stay below the first root; the plan holds their directories open.
 *
 * @return 0, AL_ERR_BAD_ARGS or AL_ERR_SANDBOX.
 */
int al_shell_plan(const struct al_shell *shell, const char *command, struct al_shell_plan *ret_plan,
                  struct al_error *err);

/** Append the plan as a line for bash, every word quoted. */
void al_shell_plan_quote(const struct al_shell_plan *plan, struct al_str *out);

/** Check a command's words, the command first.  AL_ERR_SANDBOX when they would make go write
 * outside `root`; 0 for every other command. */
int al_shell_check_outputs(const struct al_root *root, const struct al_strv *words,
                           struct al_error *err);

#endif
