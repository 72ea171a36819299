// SPDX-License-Identifier: Apache-2.0
/* git_branch: list branches, create, delete or rename one. */
#include "gitops/porcelain/branch.h"
#include "gitops/command.h"
#include "gitops/git_lock.h"
#include "gitops/porcelain/parse.h"
#include "gitops/run.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "tool/ignored.h"
#include "toolsets/workflow/results.h"
#include "toolsets/workflow/workflow.h"

enum action { LIST, CREATE, DELETE, RENAME };

struct branch_args {
    int action; /* enum action */
    const char *name, *new_name;
    bool remote, force;
    AL_WORKFLOW_FIELDS;
};

static const struct al_choice actions[] = {
    { "list", LIST }, { "create", CREATE }, { "delete", DELETE }, { "rename", RENAME }, { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct branch_args, action, "What to do.", .choices = actions,
              .flags = AL_PARAM_REQUIRED),
    AL_STRING(struct branch_args, name, "Branch to create, delete or rename.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH,
              .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_STRING_AS(struct branch_args, new_name, "newName", "New name (rename).",
                 .flags = AL_PARAM_BRANCH, .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_BOOL(struct branch_args, remote, "List remote-tracking branches as well.", .default_int = 0),
    AL_BOOL(struct branch_args, force, "Delete even if not merged.", .default_int = 0),
    AL_WORKFLOW_CWD_ROW(struct branch_args),
};

static int action_of(const void *p)
{
    return ((const struct branch_args *)p)->action;
}

AL_WHEN(is_list, struct branch_args, args->action == LIST)
AL_WHEN(is_create, struct branch_args, args->action == CREATE)
AL_WHEN(is_rename, struct branch_args, args->action == RENAME)

static bool is_delete(const void *p)
{
    return action_of(p) == DELETE;
}

AL_WHEN(is_safe_delete, struct branch_args, is_delete(args) && !args->force)

/* Names that the action ignores are checked as well. */
static int check(const void *p, struct al_error *err)
{
    const struct branch_args *args = p;
    int r = 0;

    if (args->action != LIST && !args->name)
        return al_error_set(err, AL_ERR_BAD_ARGS, "name is required for action '%s'",
                            actions[args->action].name);
    if (args->action == RENAME && !args->new_name)
        return al_error_set(err, AL_ERR_BAD_ARGS, "newName is required for action 'rename'");
    if (args->name)
        r = al_arg_check_branch("name", args->name, err);
    if (r == 0 && args->new_name)
        r = al_arg_check_branch("newName", args->new_name, err);
    return r;
}

static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct branch_args *args = p;

    (void)err;
    if (args->action == DELETE || args->action == RENAME)
        al_git_branch_files(al_call_repo(call), args->name, out);
    return 0;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct branch_args *args = p;
    bool is_kept = false;
    int r;

    (void)op;
    if (args->action == CREATE)
        return al_git_branch_create_check(al_call_repo(call), args->name, err);
    if (args->action == RENAME)
        return al_git_branch_rename_check(al_call_repo(call), args->name, args->new_name, err);
    if (args->action != DELETE)
        return 0;
    r = al_git_branch_delete_refused(al_call_repo(call), args->name, args->force,
                                     al_call_budget(call), &is_kept, err);
    if (r == 0 && is_kept)
        al_call_skip_approval(call);
    if (r < 0 || is_kept)
        return r;
    return al_git_branch_preview(al_call_repo(call), args->name, al_call_budget(call), out, err);
}

static json_t *branch_of(const struct al_branch *branch)
{
    json_t *object = al_json_object();

    al_json_set(object, "name", al_json_string(branch->name));
    al_json_set(object, "current", al_json_bool(branch->current));
    if (branch->remote)
        al_json_set(object, "remote", al_json_bool(true));
    if (branch->upstream)
        al_json_set(object, "upstream", al_json_string(branch->upstream));
    al_json_set(object, "hash", al_json_string(branch->hash));
    return object;
}

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_branches_clear) struct al_branches branches = AL_BRANCHES_INIT;
    al_auto(al_freep) char *current = NULL;
    json_t *object, *array;
    int r = al_git_read_branches(al_call_repo(call), args->remote, al_call_max_bytes(call),
                                 al_call_budget(call), &branches, err);

    if (r < 0)
        return r;
    array = al_json_array();
    for (size_t i = 0; i < branches.count; i++)
        al_json_append(array, branch_of(&branches.items[i]));
    current = al_workflow_current_branch(call);
    object = al_json_object();
    al_json_set(object, "branches", array);
    al_json_set(object, "current", al_json_string(current));
    result->truncated = branches.truncated;
    al_result_set_structured(result, object);
    return 0;
}

static int set_done(struct al_result *result, const char *branch, char *message)
{
    al_auto(al_freep) char *owned = message;
    json_t *object = al_json_object();

    al_json_set(object, "message", al_json_string(owned));
    al_json_set(object, "branch", al_json_string(branch));
    al_result_set_structured(result, object);
    return 0;
}

static int create(struct al_call *call, const void *p, struct al_result *result,
                  struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_branch_create(al_call_repo(call), args->name, al_call_max_bytes(call),
                                 al_call_budget(call), &output, err);

    return r < 0 ? r : set_done(result, args->name, al_asprintf("Created branch '%s'", args->name));
}

static int remove_branch(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_branch_delete(al_call_repo(call), args->name, args->force,
                                 al_call_max_bytes(call), al_call_budget(call), &output, err);

    return r < 0 ? r : set_done(result, args->name, al_asprintf("Deleted branch '%s'", args->name));
}

static int rename_branch(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_branch_rename(al_call_repo(call), args->name, args->new_name,
                                 al_call_max_bytes(call), al_call_budget(call), &output, err);

    return r < 0 ? r
                 : set_done(result, args->new_name,
                            al_asprintf("Renamed branch '%s' to '%s'", args->name, args->new_name));
}

static const struct al_operation operations[] = {
    { "list", is_list, AL_READS, list, AL_ASKS_NEVER },
    { "create", is_create, AL_WRITES_REFS | AL_WRITES_CONFIG, create, AL_ASKS_NEVER },
    { "rename", is_rename, AL_WRITES_REFS | AL_WRITES_CONFIG, rename_branch, AL_ASKS_NEVER },
    { "delete", is_safe_delete, AL_WRITES_REFS | AL_WRITES_CONFIG, remove_branch, AL_ASKS_ALWAYS },
    { "force_delete", NULL, AL_WRITES_REFS | AL_WRITES_CONFIG | AL_DISCARDS_WORK, remove_branch,
      AL_ASKS_ALWAYS },
};

/* A reference that goes may be packed, and its upstream is in the configuration. */
static unsigned git_locks(const struct al_operation *operation)
{
    return !strcmp(operation->name, "create") ? 0 : AL_LOCK_CONFIG | AL_LOCK_PACKED_REFS;
}

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct branch_args *args = p;

    (void)op;
    if (args->action == LIST)
        al_str_adds(out, "List branches");
    else if (args->action == CREATE)
        al_str_addf(out, "Create branch '%s'", args->name);
    else if (args->action == RENAME)
        al_str_addf(out, "Rename branch '%s' to '%s'", args->name, args->new_name);
    else
        al_str_addf(out, "%s branch '%s'", args->force ? "Force delete" : "Delete", args->name);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "branches": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "current": {"type": "boolean"},
                "remote": {"type": "boolean"},
                "upstream": {"type": "string"},
                "hash": {"type": "string"}
            },
            "required": ["name", "current", "hash"]
        }},
        "current": {"type": "string"},
        "message": {"type": "string"},
        "branch": {"type": "string"}
    },
    "anyOf": [
        {"properties": {"branches": {}, "current": {}}, "required": ["branches", "current"]},
        {"properties": {"message": {}, "branch": {}}, "required": ["message", "branch"]}
    ]
});
/* clang-format on */

static void ignored(const void *p, struct al_ignored *out)
{
    static const char *const reasons[] = { [LIST] = "action is list",
                                           [CREATE] = "action is create",
                                           [DELETE] = "action is delete",
                                           [RENAME] = "action is rename" };
    const struct branch_args *args = p;

    out->since = reasons[args->action];
    al_ignored_add(out, args->name && args->action == LIST, "name");
    al_ignored_add(out, args->new_name && args->action != RENAME, "newName");
    al_ignored_add(out, args->remote && args->action != LIST, "remote");
    al_ignored_add(out, args->force && args->action != DELETE, "force");
}

static unsigned moves(const struct al_operation *operation)
{
    return AL_MOVES_NAMED | (!strcmp(operation->name, "rename") ? AL_MOVES_HEAD : 0);
}

const struct al_tool al_tool_workflow_branch = {
    .name = "git_branch",
    .title = "Branches",
    .about = "List branches, or create, delete or rename one.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct branch_args),
    .deletes_branch = is_delete,
    .check = check,
    .affected_files = affected_files,
    .preview = preview,
    .ignored = ignored,
    .git_locks = git_locks,
    .moves = moves,
    .summarize = summarize,
    .output_schema = output_schema,
};
