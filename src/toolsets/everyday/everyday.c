// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/everyday.h"

#include "toolsets/worktree.h"

static const struct al_tool *const tools[] = {
    /* Reading. */
    &al_tool_everyday_status,
    &al_tool_everyday_diff,
    &al_tool_everyday_log,
    &al_tool_everyday_show,
    &al_tool_everyday_grep,
    &al_tool_everyday_blame,
    &al_tool_everyday_branch,
    &al_tool_everyday_tag,
    &al_tool_everyday_pr,
    /* Changes: add to undo. */
    &al_tool_everyday_add,
    &al_tool_everyday_restore,
    &al_tool_everyday_commit,
    &al_tool_everyday_reset,
    &al_tool_everyday_stash,
    &al_tool_everyday_switch,
    &al_tool_everyday_undo,
    /* History, branches, remotes. */
    &al_tool_everyday_merge,
    &al_tool_everyday_rebase,
    &al_tool_everyday_cherry_pick,
    &al_tool_everyday_revert,
    &al_tool_everyday_conflicts,
    &al_tool_everyday_pull,
    &al_tool_everyday_push,
    &al_tool_everyday_fetch,
    &al_tool_everyday_remote,
    &al_tool_git_worktree,
    NULL,
};

static const struct al_toolset toolset = {
    .name = "everyday",
    .about = "an agent's whole day with git, as short text",
    .tools = tools,
};

int al_toolset_everyday_register(struct al_toolset_registry *registry, struct al_error *err)
{
    return al_toolset_register(registry, &toolset, err);
}
