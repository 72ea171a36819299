// SPDX-License-Identifier: Apache-2.0
#include "toolsets/git/git.h"

#include "gitops/run.h"
#include "tool/call.h"

void al_git_shape_restored(const struct al_call *call, const struct al_strv *paths, bool unstaged,
                           struct al_git_output *output, struct al_result *result)
{
    al_str_reset(&output->out.out);
    al_str_addf(&output->out.out, "Restored %zu file(s)", paths->count);
    if (unstaged)
        al_str_adds(&output->out.out, "\nStaged changes were unstaged and discarded");
    al_call_shape_text(call, output, "", result);
}

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
