// SPDX-License-Identifier: Apache-2.0
/* git_status: the branch, and which files are staged, modified or untracked. */
#include "gitops/porcelain/status.h"
#include "gitops/porcelain/parse.h"
#include "gitops/sequencer/operation_state.h"
#include "gitops/submodule/submodules.h"
#include "guard/text.h"
#include "tool/call.h"
#include "toolsets/workflow/workflow.h"

struct status_args {
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_WORKFLOW_CWD_ROW(struct status_args),
};

/** The lists of names, as elements of JSON arrays. */
struct status_lists {
    struct al_str lists[AL_CHANGES];
    struct al_submodules submodules; /* those with changes inside */
};

static void status_lists_clear(struct status_lists *parts)
{
    for (int i = 0; i < AL_CHANGES; i++)
        al_str_clear(&parts->lists[i]);
    al_submodules_clear(&parts->submodules);
}

static void add_name(struct status_lists *parts, enum al_status_change change, const char *name)
{
    struct al_str *list = &parts->lists[change];

    al_str_adds(list, list->len ? ",\"" : "\"");
    al_text_escape_name(name, list);
    al_str_addc(list, '"');
}

/* Add a name.  A submodule that git itself reports is marked, so that it is not added twice. */
static void on_name(void *payload, enum al_status_change change, const char *name)
{
    struct status_lists *parts = payload;

    add_name(parts, change, name);
    for (size_t i = 0; change == AL_MODIFIED && i < parts->submodules.count; i++)
        if (!strcmp(parts->submodules.items[i].name, name))
            parts->submodules.items[i].is_named = true;
}

/* Like git, list a submodule with changes inside as modified. */
static void add_submodules(struct status_lists *parts)
{
    for (size_t i = 0; i < parts->submodules.count; i++) {
        const struct al_submodule *submodule = &parts->submodules.items[i];

        if (submodule->content && !submodule->is_named)
            add_name(parts, AL_MODIFIED, submodule->name);
    }
}

static void write_object(const struct status_lists *parts, const struct al_worktree *status,
                         struct al_str *json)
{
    static const char *const names[] = {
        [AL_STAGED] = "staged", [AL_MODIFIED] = "modified", [AL_UNTRACKED] = "untracked"
    };
    bool clean = !status->truncated;

    al_str_adds(json, "{\"branch\":\"");
    al_text_escape_name(status->branch, json);
    al_str_adds(json, "\",");
    for (int i = 0; i < AL_CHANGES; i++) {
        al_str_addf(json, "\"%s\":[", names[i]);
        al_str_add(json, parts->lists[i].buf, parts->lists[i].len);
        al_str_adds(json, "],");
        clean = clean && !parts->lists[i].len;
    }
    al_str_addf(json, "\"clean\":%s}", clean ? "true" : "false");
}

/* Note an operation in progress and conflicts, which the lists do not show. */
static void note_operation(struct al_call *call, size_t conflicts, struct al_result *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_git_operation_line(al_call_repo(call), conflicts, &line);
    if (line.len)
        al_result_note(result, line.buf);
}

static void note_submodules(const struct al_submodules *submodules, struct al_result *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_submodules_add_line(submodules, &line);
    if (line.len)
        al_result_note(result, line.buf);
}

static int execute(struct al_call *call, const void *args, struct al_result *result,
                   struct al_error *err)
{
    al_auto(status_lists_clear) struct status_lists parts = { .lists = { AL_STR_INIT, AL_STR_INIT,
                                                                         AL_STR_INIT } };
    al_auto(al_worktree_clear) struct al_worktree status = AL_WORKTREE_INIT(on_name, &parts);
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    int r;

    (void)args;
    al_git_scan_submodules(al_call_repo(call), NULL, true, al_call_budget(call), &parts.submodules);
    r = al_git_read_status(al_call_repo(call), al_call_max_bytes(call), al_call_budget(call),
                           &status, err);
    if (r < 0)
        return r;
    add_submodules(&parts);
    write_object(&parts, &status, &json);
    result->truncated = status.truncated;
    al_result_take_json(result, &json, NULL);
    note_submodules(&parts.submodules, result);
    note_operation(call, status.conflicts, result);
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
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct status_args),
    .summarize = summarize,
    .output_schema = output_schema,
};
