// SPDX-License-Identifier: Apache-2.0
/* git_conflict_info: the files in conflict, both sides of each, and their conflicted hunks. */
#include "gitops/sequencer/conflict.h"
#include "tool/call.h"
#include "toolsets/workflow/workflow.h"

struct conflict_info_args {
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_WORKFLOW_CWD_ROW(struct conflict_info_args),
};

static json_t *view_json(const struct al_conflict_view *view)
{
    json_t *object = al_json_object();

    al_json_set(object, "path", al_json_string(view->conflict->path));
    if (view->ours)
        al_json_set(object, "oursContent", al_json_string(view->ours));
    if (view->theirs)
        al_json_set(object, "theirsContent", al_json_string(view->theirs));
    al_json_set(object, "markers", al_json_string(view->markers));
    return object;
}

static int execute(struct al_call *call, const void *args, struct al_result *result,
                   struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_conflict_views_clear) struct al_conflict_views views = AL_CONFLICT_VIEWS_INIT;
    const struct al_repo *repo = al_call_repo(call);
    json_t *files;
    int r = al_git_conflicts(repo, al_call_budget(call), &conflicts, err);

    (void)args;
    if (r == 0)
        r = al_git_conflict_views(repo, &conflicts, al_call_max_bytes(call), al_call_budget(call),
                                  &views, err);
    if (r < 0)
        return r;
    files = al_json_array();
    for (size_t i = 0; i < views.count; i++)
        al_json_append(files, view_json(&views.items[i]));
    al_result_set(result, "hasConflicts", al_json_bool(conflicts.count > 0));
    al_result_set(result, "files", files);
    result->truncated = views.truncated;
    return 0;
}

static const struct al_operation operations[] = {
    { "conflict_info", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "hasConflicts": true,
    "files": [{"path": "", "oursContent?": "", "theirsContent?": "", "markers": ""}]
});
/* clang-format on */

const struct al_tool al_tool_workflow_conflict_info = {
    .name = "git_conflict_info",
    .title = "Conflicts",
    .about = "Show files in conflict; one side absent: deleted there, both: no text or too large.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct conflict_info_args),
    .summary = "Show conflicts",
    .output_schema = output_schema,
};
