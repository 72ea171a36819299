// SPDX-License-Identifier: Apache-2.0
#include "toolsets/git/git.h"

static const struct al_tool *const tools[] = {
    &al_tool_git_status, &al_tool_git_diff,     &al_tool_git_log,   &al_tool_git_show,
    &al_tool_git_blame,  &al_tool_git_restore,  &al_tool_git_add,   &al_tool_git_commit,
    &al_tool_git_branch, &al_tool_git_checkout, &al_tool_git_stash, NULL,
};

static const struct al_toolset toolset = {
    .name = "git",
    .about = "git with plain text results, eleven tools",
    .tools = tools,
};

int al_toolset_git_register(struct al_toolset_registry *registry, struct al_error *err)
{
    return al_toolset_register(registry, &toolset, err);
}
