// SPDX-License-Identifier: Apache-2.0
#include "toolsets/git/git.h"

static const struct al_tool *const tools[] = {
    &al_tool_git_status, &al_tool_git_diff,   &al_tool_git_log,
    &al_tool_git_add,    &al_tool_git_commit, NULL,
};

const struct al_toolset al_toolset_git = {
    .name = "git",
    .about = "git with plain text results: status, diff, log, add, commit",
    .tools = tools,
};
