// SPDX-License-Identifier: Apache-2.0
/* git_stash: stash changes and restore them. */
#include <inttypes.h>

#include "gitops/command.h"
#include "gitops/plumbing/stash_owners.h"
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

/* `whose`: NULL where there is only one working tree. */
static json_t *entry_of(const struct al_stash_entry *entry, size_t index, const char *whose)
{
    al_auto(al_freep) char *message =
        whose ? al_asprintf("%s (%s)", entry->message, whose) : al_strdup(entry->message);
    json_t *object = al_json_object();

    al_json_set(object, "index", al_json_int((int64_t)index));
    al_json_set(object, "message", al_json_string(message));
    if (entry->branch)
        al_json_set(object, "branch", al_json_string(entry->branch));
    al_json_set(object, "date", al_json_string(entry->date));
    return object;
}

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    json_t *object, *array;
    int r = al_git_read_stashes(al_call_repo(call), al_call_max_bytes(call), al_call_budget(call),
                                &stashes, err);

    (void)p;
    if (r < 0)
        return r;
    al_stash_owners_read(al_call_repo(call), &owners);
    al_git_stash_entries(al_call_repo(call), &ids);
    array = al_json_array();
    for (size_t i = 0; i < stashes.count; i++) {
        al_auto(al_freep) char *whose =
            owners.is_shared && i < ids.count ? al_stash_owner_words(&owners, ids.items[i]) : NULL;

        al_json_append(array, entry_of(&stashes.items[i], i, whose));
    }
    object = al_json_object();
    al_json_set(object, "stashes", array);
    result->truncated = stashes.truncated;
    al_result_set_structured(result, object);
    return 0;
}

/* *ret_index is that of the entry when git ran. */
static int run(struct al_call *call, const struct stash_args *args, struct al_git_output *output,
               int64_t *ret_index, struct al_error *err)
{
    struct al_stash_options options = { .index = 0 };
    int r = al_stash_options_of(call, args, &options, err);

    *ret_index = options.index;
    if (r == 0)
        r = al_stash_run(call, &options, output, err);

    if (r == AL_ERR_EXECUTION && err->reason && err->code == AL_CODE_NONE)
        err->remedy = "See git_stash with action list for the entries there are.";
    return r;
}

static int push(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int64_t index;
    int r = run(call, p, &output, &index, err);
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
    int64_t index;
    int r = run(call, p, &output, &index, err);
    json_t *object;

    if (r < 0)
        return r;
    message = al_asprintf("%s stash@{%" PRId64 "}", al_stash_is_pop(NULL, p) ? "Popped" : "Applied",
                          index);
    object = al_json_object();
    al_json_set(object, "applied", al_json_bool(true));
    al_json_set(object, "message", al_json_string(message));
    al_result_set_structured(result, object);
    return 0;
}

static int drop(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int64_t index;
    int r = run(call, p, &output, &index, err);
    json_t *object;

    if (r < 0)
        return r;
    object = al_json_object();
    al_json_set(object, "dropped", al_json_bool(true));
    al_json_set(object, "index", al_json_int(index));
    al_result_set_structured(result, object);
    return 0;
}

static int clear(struct al_call *call, const void *p, struct al_result *result,
                 struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    uint64_t count;
    int64_t index, own = al_stash_count_own(call);
    int r = al_git_count_stashes(al_call_repo(call), al_call_budget(call), &count, err);
    json_t *object;

    if (r == 0)
        r = run(call, p, &output, &index, err);
    if (r < 0)
        return r;
    object = al_json_object();
    al_json_set(object, "count", al_json_int(own < 0 ? (int64_t)count : own));
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

/* An entry of another working tree is somebody else's work. */
static const struct al_stricter stricter[] = {
    { { "pop", NULL, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, apply, AL_ASKS_ALWAYS },
      al_stash_is_foreign,
      "for an entry of another worktree" },
    { { "apply", NULL, AL_WRITES_INDEX | AL_WRITES_WORKTREE, apply, AL_ASKS_ALWAYS },
      al_stash_is_foreign,
      "for an entry of another worktree" },
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
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct stash_args),
    AL_TOOL_STRICTER(stricter),
    .resolve = al_stash_resolve,
    .summarize_resolved = al_stash_summarize_resolved,
    .always_by = al_stash_always_by,
    .authorize = al_stash_authorize,
    .affected_files = al_stash_affected_files,
    .changed_files = al_stash_changed_files,
    .moves_always = AL_MOVES_STASH,
    .preview = al_stash_preview,
    .ignored = ignored,
    .git_locks = al_stash_git_locks,
    .summarize = al_stash_summarize,
    .output_schema = output_schema,
};
