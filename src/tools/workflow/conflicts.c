// SPDX-License-Identifier: Apache-2.0
/* git_conflict_info: the files in conflict, both sides of each, and their conflicted hunks; and
 * git_resolve_conflict: resolve one file with ours, theirs, or given content. */
#include "call/call.h"
#include "tools/workflow/workflow.h"
#include "verbs/sequencer/conflict.h"
#include "verbs/sequencer/resolve.h"

struct conflict_info_args {
    AL_WORKFLOW_FIELDS;
};

static const struct al_param info_params[] = {
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

static int show(struct al_call *call, const void *args, struct al_result *result,
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

static const struct al_operation info_operations[] = {
    { "conflict_info", NULL, AL_READS, show, AL_ASKS_NEVER },
};

/* clang-format off */
static const char info_schema[] = AL_JSON({
    "hasConflicts": true,
    "files": [{"path": "", "oursContent?": "", "theirsContent?": "", "markers": ""}]
});
/* clang-format on */

const struct al_tool al_tool_workflow_conflict_info = {
    .name = "git_conflict_info",
    .title = "Conflicts",
    .about = "Show files in conflict; one side absent: deleted there, both: no text or too large.",
    AL_TOOL_ROWS(info_params, info_operations),
    AL_WORKFLOW_TOOL(struct conflict_info_args),
    .summary = "Show conflicts",
    .output_schema = info_schema,
};

#define CONTENT_MAX_BYTES (4u << 20)

struct resolve_args {
    const char *path, *content;
    int strategy; /* enum al_resolution */
    AL_WORKFLOW_FIELDS;
};

static const struct al_choice strategies[] = {
    { "ours", AL_RESOLVE_OURS },
    { "theirs", AL_RESOLVE_THEIRS },
    { "content", AL_RESOLVE_CONTENT },
    { NULL, 0 },
};

static const struct al_param resolve_params[] = {
    AL_STRING(struct resolve_args, path, NULL, .flags = AL_PARAM_REQUIRED | AL_PARAM_PATH,
              .min_bytes = 1),
    AL_CHOICE(struct resolve_args, strategy, "What to keep.", .choices = strategies,
              .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct resolve_args, content, "The whole new file.", .max_bytes = CONTENT_MAX_BYTES),
    AL_WORKFLOW_CWD_ROW(struct resolve_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct resolve_args *args = p;

    if (args->strategy == AL_RESOLVE_CONTENT && !args->content)
        return al_error_set(err, AL_ERR_BAD_ARGS, "content is required with strategy content");
    if (args->strategy != AL_RESOLVE_CONTENT && args->content)
        return al_error_set(err, AL_ERR_BAD_ARGS, "content goes with strategy content only");
    return 0;
}

static struct al_resolve_options options_of(const struct resolve_args *args)
{
    return (struct al_resolve_options){
        .path = args->path,
        .how = (enum al_resolution)args->strategy,
        .content = args->content,
    };
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct al_resolve_options options = options_of(p);

    return al_git_resolve_check(al_call_repo(call), &options, 1, al_call_budget(call), err);
}

static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct al_resolve_options options = options_of(p);

    (void)err;
    al_git_resolve_affected_files(al_call_repo(call), &options, out);
    return 0;
}

static int preview(struct al_call *call, const void *p, struct al_str *out, struct al_error *err)
{
    const struct al_resolve_options options = options_of(p);

    return al_git_resolve_preview(al_call_repo(call), &options, 1, al_call_budget(call), out, err);
}

static int resolve(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct resolve_args *args = p;
    const struct al_resolve_options options = options_of(args);
    int r = al_git_resolve(al_call_repo(call), &options, 1, al_call_budget(call), err);

    if (r < 0)
        return r;
    al_result_set(result, "resolved", al_json_bool(true));
    al_result_set(result, "path", al_json_string(args->path));
    al_result_set(result, "strategy", al_json_string(strategies[args->strategy].name));
    return 0;
}

static const struct al_operation resolve_operations[] = {
    { "resolve_conflict", NULL, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK, resolve,
      AL_ASKS_ALWAYS },
};

/* clang-format off */
static const char resolve_schema[] = AL_JSON({
    "resolved": true, "path": "", "strategy": "ours|theirs|content"
});
/* clang-format on */

const struct al_tool al_tool_workflow_resolve_conflict = {
    .name = "git_resolve_conflict",
    .title = "Resolve",
    .about = "Resolve a file in conflict; git_commit concludes when none is left.",
    AL_TOOL_ROWS(resolve_params, resolve_operations),
    AL_WORKFLOW_TOOL(struct resolve_args),
    .check = check,
    .authorize = authorize,
    .affected_files = affected_files,
    .preview = preview,
    .summary = "Resolve the conflict in {path} with [strategy=ours?our side]"
               "[strategy=theirs?their side][strategy=content?new content]",
    .output_schema = resolve_schema,
};
