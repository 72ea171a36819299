// SPDX-License-Identifier: Apache-2.0
/* git_stash: stash changes and restore them. */
#include <inttypes.h>

#include "gitops/command.h"
#include "gitops/porcelain/parse.h"
#include "gitops/porcelain/stash.h"
#include "gitops/run.h"
#include "tool/ignored.h"
#include "toolsets/stash.h"
#include "toolsets/workflow/workflow.h"

#define NOTHING_TO_SAVE "No local changes to save"

struct stash_args {
    struct al_stash_args stash; /* must be first, see toolsets/stash.h */
    AL_WORKFLOW_FIELDS;
};

static const struct al_choice actions[] = {
    { "push", AL_STASH_COMMAND_PUSH },
    { "pop", AL_STASH_COMMAND_POP },
    { "apply", AL_STASH_COMMAND_APPLY },
    { "list", AL_STASH_COMMAND_LIST },
    { "drop", AL_STASH_COMMAND_DROP },
    { "clear", AL_STASH_COMMAND_CLEAR },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE_AS(struct stash_args, stash.action, "action", "What to do.", .choices = actions,
                 .flags = AL_PARAM_REQUIRED),
    AL_STRING_AS(struct stash_args, stash.message, "message", "Message of the entry (push).",
                 .max_bytes = AL_WORKFLOW_TEXT_MAX_BYTES),
    AL_INT_AS(struct stash_args, stash.index, "index",
              "Entry to pop, apply or drop; default: the newest, 0.", .min = 0, .max = INT32_MAX,
              .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL_AS(struct stash_args, stash.include_untracked, "includeUntracked",
               "With push: untracked files too.", .default_int = 0),
    AL_WORKFLOW_CWD_ROW(struct stash_args),
};

static json_t *entry_of(const struct al_stash_entry *entry, size_t index)
{
    json_t *object = al_json_object();

    al_json_set(object, "index", al_json_int((int64_t)index));
    al_json_set(object, "message", al_json_string(entry->message));
    if (entry->branch)
        al_json_set(object, "branch", al_json_string(entry->branch));
    al_json_set(object, "date", al_json_string(entry->date));
    return object;
}

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    json_t *object, *array;
    int r = al_git_read_stashes(al_call_repo(call), al_call_max_bytes(call), al_call_budget(call),
                                &stashes, err);

    (void)p;
    if (r < 0)
        return r;
    array = al_json_array();
    for (size_t i = 0; i < stashes.count; i++)
        al_json_append(array, entry_of(&stashes.items[i], i));
    object = al_json_object();
    al_json_set(object, "stashes", array);
    result->truncated = stashes.truncated;
    al_result_set_structured(result, object);
    return 0;
}

static int run(struct al_call *call, const struct stash_args *args, struct al_git_output *output,
               struct al_error *err)
{
    const struct al_stash_options options = al_stash_options_of(args);
    int r = al_git_stash(al_call_repo(call), &options, al_call_max_bytes(call),
                         al_call_budget(call), output, err);

    if (r == AL_ERR_EXECUTION && err->reason && err->code == AL_CODE_NONE)
        err->remedy = "See git_stash with action list for the entries there are.";
    return r;
}

static int push(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = run(call, p, &output, err);
    json_t *object;
    bool stashed;

    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    stashed = !al_starts_with(output.out.out.buf, NOTHING_TO_SAVE);
    result->truncated = al_text_truncate(&output.out.out, al_call_max_bytes(call));
    object = al_json_object();
    al_json_set(object, "stashed", al_json_bool(stashed));
    al_json_set(object, "message", al_json_string(output.out.out.buf));
    al_result_set_structured(result, object);
    return 0;
}

static int apply(struct al_call *call, const void *p, struct al_result *result,
                 struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *message = NULL;
    int r = run(call, p, &output, err);
    json_t *object;

    if (r < 0)
        return r;
    message = al_asprintf("%s stash@{%" PRId64 "}", al_stash_is_pop(NULL, p) ? "Popped" : "Applied",
                          al_stash_index(p));
    object = al_json_object();
    al_json_set(object, "applied", al_json_bool(true));
    al_json_set(object, "message", al_json_string(message));
    al_result_set_structured(result, object);
    return 0;
}

static int drop(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = run(call, p, &output, err);
    json_t *object;

    if (r < 0)
        return r;
    object = al_json_object();
    al_json_set(object, "dropped", al_json_bool(true));
    al_json_set(object, "index", al_json_int(al_stash_index(p)));
    al_result_set_structured(result, object);
    return 0;
}

static int clear(struct al_call *call, const void *p, struct al_result *result,
                 struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    uint64_t count;
    int r = al_git_count_stashes(al_call_repo(call), al_call_budget(call), &count, err);
    json_t *object;

    if (r == 0)
        r = run(call, p, &output, err);
    if (r < 0)
        return r;
    object = al_json_object();
    al_json_set(object, "count", al_json_int((int64_t)count));
    al_result_set_structured(result, object);
    return 0;
}

static const struct al_operation operations[] = {
    { "push", al_stash_is_push, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, push,
      AL_ASKS_NEVER },
    { "pop", al_stash_is_pop, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, apply,
      AL_ASKS_NEVER },
    { "apply", al_stash_is_apply, AL_WRITES_INDEX | AL_WRITES_WORKTREE, apply, AL_ASKS_NEVER },
    { "list", al_stash_is_list, AL_READS, list, AL_ASKS_NEVER },
    { "drop", al_stash_is_drop, AL_WRITES_REFS | AL_DISCARDS_WORK, drop, AL_ASKS_ALWAYS },
    { "clear", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, clear, AL_ASKS_ALWAYS },
};

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "stashed": {"type": "boolean"},
        "applied": {"type": "boolean"},
        "message": {"type": "string"},
        "stashes": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "index": {"type": "integer"},
                "message": {"type": "string"},
                "branch": {"type": "string"},
                "date": {"type": "string"}
            },
            "required": ["index", "message"]
        }},
        "dropped": {"type": "boolean"},
        "index": {"type": "integer"},
        "count": {"type": "integer"}
    },
    "anyOf": [
        {"properties": {"stashed": {}, "message": {}}, "required": ["stashed", "message"]},
        {"properties": {"applied": {}, "message": {}}, "required": ["applied", "message"]},
        {"properties": {"stashes": {}}, "required": ["stashes"]},
        {"properties": {"dropped": {}, "index": {}}, "required": ["dropped"]},
        {"properties": {"count": {}}, "required": ["count"]}
    ]
});
/* clang-format on */

static void ignored(const void *p, struct al_ignored *out)
{
    al_stash_ignored(p, "includeUntracked", out);
}

const struct al_tool al_tool_workflow_stash = {
    .name = "git_stash",
    .title = "Stash changes",
    .about = "Put uncommitted changes aside (push), bring them back (pop, apply), list, drop or "
             "clear.",
    .params = params,
    .nparams = AL_COUNT(params),
    AL_WORKFLOW_TOOL(struct stash_args),
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .authorize = al_stash_authorize,
    .affected_files = al_stash_affected_files,
    .preview = al_stash_preview,
    .ignored = ignored,
    .git_locks = al_stash_git_locks,
    .summarize = al_stash_summarize,
    .output_schema = output_schema,
};
