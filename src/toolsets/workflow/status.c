// SPDX-License-Identifier: Apache-2.0
/* git_status: the branch, and which files are staged, modified or untracked. */
#include "gitops/queries.h"
#include "tool/call.h"
#include "toolsets/workflow/workflow.h"

struct status_args {
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_WORKFLOW_CWD_ROW(struct status_args),
};

static int execute(struct al_call *call, const void *args, struct al_result *result,
                   struct al_error *err)
{
    al_auto(al_worktree_clear) struct al_worktree status = AL_WORKTREE_INIT;
    json_t *object;
    int r = al_git_read_status(al_call_repo(call), al_call_max_bytes(call), al_call_budget(call),
                               &status, err);

    (void)args;
    if (r < 0)
        return r;
    object = al_json_object();
    al_json_set(object, "branch", al_json_string(status.branch));
    al_json_set(object, "staged", al_workflow_strings(&status.staged));
    al_json_set(object, "modified", al_workflow_strings(&status.modified));
    al_json_set(object, "untracked", al_workflow_strings(&status.untracked));
    al_json_set(object, "clean",
                al_json_bool(!status.truncated && !status.staged.count && !status.modified.count &&
                             !status.untracked.count));
    result->truncated = status.truncated;
    al_result_set_structured(result, object);
    return 0;
}

static const struct al_operation operations[] = {
    { "status", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

static void summarize(const struct al_operation *op, const void *args, struct al_str *out)
{
    (void)op;
    (void)args;
    al_str_adds(out, "Show git status");
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "branch": {"type": "string"},
        "staged": {"type": "array", "items": {"type": "string"}},
        "modified": {"type": "array", "items": {"type": "string"}},
        "untracked": {"type": "array", "items": {"type": "string"}},
        "clean": {"type": "boolean"}
    },
    "required": ["branch", "staged", "modified", "untracked", "clean"]
});
/* clang-format on */

const struct al_tool al_tool_workflow_status = {
    .name = "git_status",
    .title = "Show status",
    .about = "Show the branch and which files are staged, modified or untracked.",
    .params = params,
    .nparams = AL_COUNT(params),
    AL_WORKFLOW_TOOL(struct status_args),
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .summarize = summarize,
    .output_schema = output_schema,
};
