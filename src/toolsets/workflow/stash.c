// SPDX-License-Identifier: Apache-2.0
/* git_stash: put changes aside and bring them back. */
#include <inttypes.h>

#include "gitops/queries.h"
#include "tool/call.h"
#include "toolsets/workflow/workflow.h"

#define NOTHING_TO_SAVE "No local changes to save"

enum action { PUSH, POP, APPLY, LIST, DROP, CLEAR };

struct stash_args {
    int action; /* enum action */
    const char *message;
    struct al_opt_int index;
    bool include_untracked;
    AL_WORKFLOW_FIELDS;
};

static const struct al_choice actions[] = {
    { "push", PUSH }, { "pop", POP },     { "apply", APPLY }, { "list", LIST },
    { "drop", DROP }, { "clear", CLEAR }, { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct stash_args, action, "What to do.", .choices = actions,
              .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct stash_args, message, "Message of the entry (push).",
              .max_bytes = AL_WORKFLOW_TEXT_MAX_BYTES),
    AL_INT(struct stash_args, index, "Entry to pop, apply or drop; default: the newest, 0.",
           .min = 0, .max = INT32_MAX, .flags = AL_PARAM_MAX_HIDDEN),
    AL_BOOL_AS(struct stash_args, include_untracked, "includeUntracked",
               "With push: untracked files too.", .default_int = 0),
    AL_WORKFLOW_CWD_ROW(struct stash_args),
};

static int action_of(const void *p)
{
    return ((const struct stash_args *)p)->action;
}

static bool is_push(const void *p)
{
    return action_of(p) == PUSH;
}

static bool is_pop(const void *p)
{
    return action_of(p) == POP;
}

static bool is_apply(const void *p)
{
    return action_of(p) == APPLY;
}

static bool is_list(const void *p)
{
    return action_of(p) == LIST;
}

static bool is_drop(const void *p)
{
    return action_of(p) == DROP;
}

static int64_t index_of(const struct stash_args *args)
{
    return args->index.given ? args->index.value : 0;
}

static struct al_stash_options options_of(const struct stash_args *args)
{
    static const enum al_stash_action actions_of[] = {
        [PUSH] = AL_STASH_PUSH, [POP] = AL_STASH_POP,     [APPLY] = AL_STASH_APPLY,
        [DROP] = AL_STASH_DROP, [CLEAR] = AL_STASH_CLEAR,
    };

    return (struct al_stash_options){
        .action = actions_of[args->action],
        .message = args->message,
        .include_untracked = args->include_untracked,
        .index = index_of(args),
    };
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    struct al_stash_options options;

    if (is_list(p))
        return 0;
    options = options_of(p);
    return al_git_stash_check(al_call_repo(call), &options, al_call_budget(call), err);
}

/* Entries are named by their place in the list, which a push in between would shift. */
static int concerns(struct al_call *call, const void *p, struct al_strv *out, struct al_error *err)
{
    const struct stash_args *args = p;
    struct al_repo *repo = al_call_repo(call);

    al_strv_addf(out, "%s/logs/refs/stash", repo->common_dir);
    if (args->action != PUSH)
        return 0;
    return al_git_concerned(repo, NULL, args->include_untracked, al_call_budget(call), out, err);
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    struct al_stash_options options;
    const struct al_strv *files;
    int r;

    (void)op;
    if (is_list(p))
        return 0;
    options = options_of(p);
    r = al_call_concerned(call, &files, err);
    return r < 0 ? r
                 : al_git_stash_preview(al_call_repo(call), &options, files, al_call_budget(call),
                                        out, err);
}

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
    const struct al_stash_options options = options_of(args);
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

    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    object = al_json_object();
    al_json_set(object, "stashed",
                al_json_bool(!al_starts_with(output.out.out.buf, NOTHING_TO_SAVE)));
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
    message = al_asprintf("%s stash@{%" PRId64 "}", is_pop(p) ? "Popped" : "Applied", index_of(p));
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
    al_json_set(object, "index", al_json_int(index_of(p)));
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
    { "push", is_push, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, push, AL_ASKS_NEVER },
    { "pop", is_pop, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, apply, AL_ASKS_NEVER },
    { "apply", is_apply, AL_WRITES_INDEX | AL_WRITES_WORKTREE, apply, AL_ASKS_NEVER },
    { "list", is_list, AL_READS, list, AL_ASKS_NEVER },
    { "drop", is_drop, AL_WRITES_REFS | AL_DISCARDS_WORK, drop, AL_ASKS_ALWAYS },
    { "clear", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, clear, AL_ASKS_ALWAYS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    static const char *const verbs[] = { [POP] = "Pop", [APPLY] = "Apply", [DROP] = "Drop" };
    const struct stash_args *args = p;

    (void)op;
    if (args->action == PUSH) {
        al_str_adds(out, "Stash changes");
        if (args->message)
            al_str_addf(out, ": %s", args->message);
    } else if (args->action == LIST) {
        al_str_adds(out, "List stashes");
    } else if (args->action == CLEAR) {
        al_str_adds(out, "Clear ALL stashes (WARNING: destructive)");
    } else {
        al_str_addf(out, "%s stash@{%" PRId64 "}", verbs[args->action], index_of(args));
    }
}

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
    .authorize = authorize,
    .concerns = concerns,
    .preview = preview,
    .summarize = summarize,
    .output_schema = output_schema,
};
