// SPDX-License-Identifier: Apache-2.0
/* The toolset `shell`: pipelines of whitelisted commands, run without a shell. */
#ifndef AL_TOOLS_SHELL_SHELL_H
#define AL_TOOLS_SHELL_SHELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "call/tool.h"
#include "guard/grant.h"
#include "guard/program.h"
#include "guard/root.h"

/** The tool. */
extern const struct al_tool al_tool_bash_command;

/** The settings of a session's shell.  All pointers are borrowed and must outlive the al_shell. */
struct al_shell_options {
    const struct al_strv *whitelist;
    bool live; /**< run commands; false: every call is a dry run */
    uint32_t timeout_s;
    enum al_isolation isolation;
    const char *path_list; /**< PATH, where programs are searched */
    const struct al_roots *roots;
    const struct al_grant *grant; /**< NULL: no restriction */
    const struct al_strv *env_allow;
    char *const *environ_;
    const char *state_dir; /**< a directory outside every root */
};

struct al_shell;

/**
 * Make a session's shell.  No process is started.  Warns on stderr when a live session has no
 * isolation.
 *
 * @return 0, or AL_ERR_BAD_ARGS when the configured isolation is not available.
 */
int al_shell_new(const struct al_shell_options *options, struct al_shell **ret_shell,
                 struct al_error *err);
void al_shell_free(struct al_shell *shell);

#endif
