// SPDX-License-Identifier: Apache-2.0
#include "tools/toolsets.h"

#include "tools/commands/commands.h"
#include "tools/shell/shell.h"

static const struct al_tool *const git_tools[] = {
    &al_tool_git_status, &al_tool_git_diff,     &al_tool_git_log,   &al_tool_git_show,
    &al_tool_git_blame,  &al_tool_git_restore,  &al_tool_git_add,   &al_tool_git_commit,
    &al_tool_git_branch, &al_tool_git_checkout, &al_tool_git_stash, NULL,
};

static const struct al_tool *const workflow_tools[] = {
    &al_tool_workflow_status,
    &al_tool_workflow_diff,
    &al_tool_workflow_log,
    &al_tool_workflow_commit,
    &al_tool_workflow_branch,
    &al_tool_workflow_checkout,
    &al_tool_workflow_merge,
    &al_tool_workflow_conflict_info,
    &al_tool_workflow_resolve_conflict,
    &al_tool_workflow_stash,
    &al_tool_workflow_fetch,
    &al_tool_workflow_pull,
    &al_tool_workflow_push,
    &al_tool_workflow_remote,
    &al_tool_workflow_generate_pr,
    NULL,
};

static const struct al_tool *const readonly_tools[] = { &al_tool_readonly_git, NULL };

static const struct al_tool *const shell_tools[] = { &al_tool_bash_command, NULL };

static const struct al_tool *const files_tools[] = {
    &al_tool_files_read, &al_tool_files_write, &al_tool_files_list, &al_tool_files_delete, NULL,
};

static const struct al_tool *const staging_tools[] = {
    &al_tool_staging_status, &al_tool_staging_stage,    &al_tool_staging_diff,
    &al_tool_staging_push,   &al_tool_staging_discard,  &al_tool_staging_pull,
    &al_tool_staging_merge,  &al_tool_staging_branches, NULL,
};

static const struct al_tool *const everyday_tools[] = {
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

static const struct al_tool *const parallel_tools[] = {
    &al_tool_git_worktree,
    &al_tool_parallel_compare,
    &al_tool_parallel_land,
    NULL,
};

static const struct al_tool *const commands_tools[] = { &al_tool_commands_git,
                                                        &al_tool_commands_hook,
                                                        &al_tool_commands_run, NULL };

/* In the order in which they are listed. */
static const struct al_toolset toolsets[] = {
    { "git", "git with plain text results, eleven tools", git_tools, false },
    { "workflow", "git with structured results and error codes", workflow_tools, false },
    { "readonly", "one tool that reads repositories and cannot write, with structured results",
      readonly_tools, false },
    { "shell", "a few reading commands and go, piped and redirected, without a shell", shell_tools,
      false },
    { "files", "the files of the sandbox, below /workspace, which is in no repository", files_tools,
      false },
    { "staging", "the sandbox's changes: stage them, and push what the user approves",
      staging_tools, false },
    { "everyday", "an agent's whole day with git, as short text", everyday_tools, false },
    { "parallel", "linked worktrees for several agents, and landing their branches", parallel_tools,
      false },
    { "commands", "what is run in a shell through airlock; no server offers it", commands_tools,
      true },
};

const struct al_toolset_registry *al_toolsets(void)
{
    static const struct al_toolset_registry all = { toolsets, AL_COUNT(toolsets) };

    return &all;
}
