// SPDX-License-Identifier: Apache-2.0
/* git_branch: list, create, delete and rename branches. */
#include "gitops/porcelain/branch.h"
#include "gitops/command.h"
#include "gitops/git_lock.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "guard/arg.h"
#include "guard/text.h"
#include "tool/call.h"
#include "tool/ignored.h"
#include "toolsets/git/git.h"

struct branch_args {
    bool list_all, list_remote;
    const char *create, *delete, *force_delete, *rename, *new_name;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_BOOL(struct branch_args, list_all, "List remote ones too.", .default_int = 0),
    AL_BOOL(struct branch_args, list_remote, "List remote ones only.", .default_int = 0),
    AL_STRING(struct branch_args, create, "Create this branch at HEAD.", .flags = AL_PARAM_BRANCH,
              .max_bytes = AL_GIT_REF_MAX_BYTES),
    AL_STRING(struct branch_args, delete, "Delete this merged branch.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH,
              .max_bytes = AL_GIT_REF_MAX_BYTES),
    AL_STRING(struct branch_args, force_delete, "Delete this branch, merged or not.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH,
              .max_bytes = AL_GIT_REF_MAX_BYTES),
    AL_STRING(struct branch_args, rename, "Rename this branch; needs new_name.",
              .flags = AL_PARAM_BRANCH, .max_bytes = AL_GIT_REF_MAX_BYTES),
    AL_STRING(struct branch_args, new_name, "The new name, with rename.", .flags = AL_PARAM_BRANCH,
              .max_bytes = AL_GIT_REF_MAX_BYTES),
    AL_GIT_TIMEOUT_ROW(struct branch_args),
    AL_GIT_WORKING_DIR_ROW(struct branch_args),
};

AL_WHEN(is_rename, struct branch_args, args->rename)
AL_WHEN(is_force_delete, struct branch_args, args->force_delete)
AL_WHEN(is_delete, struct branch_args, args->delete)
AL_WHEN(is_list, struct branch_args, !args->create)

/* Names that the chosen operation ignores are checked as well. */
static int check(const void *p, struct al_error *err)
{
    const struct branch_args *args = p;
    const struct {
        const char *param, *value;
    } names[] = {
        { "rename", args->rename },
        { "new_name", args->new_name },
        { "force_delete", args->force_delete },
        { "delete", args->delete },
        { "create", args->create },
    };

    if (args->rename && !args->new_name)
        return al_error_set(err, AL_ERR_BAD_ARGS, "rename requires new_name");
    for (size_t i = 0; i < AL_COUNT(names); i++) {
        int r = names[i].value ? al_arg_check_branch(names[i].param, names[i].value, err) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

/* The branch to delete or rename; NULL for the other operations. */
static const char *subject_of(const struct branch_args *args)
{
    return args->rename ? args->rename : args->force_delete ? args->force_delete : args->delete;
}

/* The files of the branch's reference: it may change during approval. */
static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const char *branch = subject_of(p);

    (void)err;
    if (branch)
        al_git_branch_files(al_call_repo(call), branch, out);
    return 0;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct branch_args *args = p;
    const char *branch = subject_of(args);
    bool stays = false;
    int r;

    if (!strcmp(op->name, "create"))
        return al_git_branch_create_check(al_call_repo(call), args->create, err);
    if (!strcmp(op->name, "rename"))
        return al_git_branch_rename_check(al_call_repo(call), args->rename, args->new_name, err);
    if (!branch)
        return 0;
    r = al_git_branch_delete_refused(al_call_repo(call), branch, args->force_delete,
                                     al_call_budget(call), &stays, err);
    if (r == 0 && stays)
        al_call_skip_approval(call);
    if (r < 0 || stays)
        return r;
    return al_git_branch_preview(al_call_repo(call), branch, al_call_budget(call), out, err);
}

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_branch_list(al_call_repo(call), args->list_all, args->list_remote,
                               al_call_max_bytes(call), al_call_budget(call), &output, err);

    if (r < 0)
        return r;
    al_call_shape_text(call, &output, "", result);
    return 0;
}

/* git prints nothing when it creates or renames a branch; the result then says that it did. */
static int set_done(struct al_call *call, struct al_git_output *output, const char *text,
                    struct al_result *result)
{
    if (!output->out.out.len)
        al_str_adds(&output->out.out, text);
    al_call_shape_text(call, output, "", result);
    return 0;
}

static int create(struct al_call *call, const void *p, struct al_result *result,
                  struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *name = al_text_sanitize_line(args->create);
    al_auto(al_freep) char *text = al_asprintf("Created branch '%s'", name);
    int r = al_git_branch_create(al_call_repo(call), args->create, al_call_max_bytes(call),
                                 al_call_budget(call), &output, err);

    return r < 0 ? r : set_done(call, &output, text, result);
}

static int remove_branch(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct branch_args *args = p;
    bool force = args->force_delete;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r =
        al_git_branch_delete(al_call_repo(call), force ? args->force_delete : args->delete, force,
                             al_call_max_bytes(call), al_call_budget(call), &output, err);

    return r < 0 ? r : set_done(call, &output, "", result);
}

static int rename_branch(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *from = al_text_sanitize_line(args->rename);
    al_auto(al_freep) char *to = al_text_sanitize_line(args->new_name);
    al_auto(al_freep) char *text = al_asprintf("Renamed branch '%s' to '%s'", from, to);
    int r = al_git_branch_rename(al_call_repo(call), args->rename, args->new_name,
                                 al_call_max_bytes(call), al_call_budget(call), &output, err);

    return r < 0 ? r : set_done(call, &output, text, result);
}

static const struct al_operation operations[] = {
    { "rename", is_rename, AL_WRITES_REFS | AL_WRITES_CONFIG, rename_branch, AL_ASKS_BY_EFFECTS },
    { "force_delete", is_force_delete, AL_WRITES_REFS | AL_WRITES_CONFIG | AL_DISCARDS_WORK,
      remove_branch, AL_ASKS_BY_EFFECTS },
    { "delete", is_delete, AL_WRITES_REFS | AL_WRITES_CONFIG, remove_branch, AL_ASKS_BY_EFFECTS },
    { "list", is_list, AL_READS, list, AL_ASKS_BY_EFFECTS },
    { "create", NULL, AL_WRITES_REFS | AL_WRITES_CONFIG, create, AL_ASKS_BY_EFFECTS },
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
    if (args->rename)
        al_str_addf(out, "Rename branch '%s' to '%s'", args->rename, args->new_name);
    else if (args->force_delete)
        al_str_addf(out, "Force delete branch '%s'", args->force_delete);
    else if (args->delete)
        al_str_addf(out, "Delete branch '%s'", args->delete);
    else if (args->create)
        al_str_addf(out, "Create branch '%s'", args->create);
    else
        al_str_adds(out, "List branches");
}

/* The first option that is given decides the operation. */
static void ignored(const void *p, struct al_ignored *out)
{
    const struct branch_args *args = p;
    const struct {
        const char *name, *reason;
        bool given;
    } wishes[] = {
        { "rename", "rename is given", args->rename },
        { "force_delete", "force_delete is given", args->force_delete },
        { "delete", "delete is given", args->delete },
        { "create", "create is given", args->create },
        { "list_all", NULL, args->list_all },
        { "list_remote", NULL, args->list_remote },
    };

    for (size_t i = 0; i < AL_COUNT(wishes); i++) {
        al_ignored_add(out, out->since && wishes[i].given, wishes[i].name);
        if (wishes[i].given && !out->since)
            out->since = wishes[i].reason;
    }
}

static unsigned moves(const struct al_operation *operation)
{
    return AL_MOVES_NAMED | (!strcmp(operation->name, "rename") ? AL_MOVES_HEAD : 0);
}

const struct al_tool al_tool_git_branch = {
    .name = "git_branch",
    .title = "Branches",
    .about = "List branches, or create, delete or rename one.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct branch_args),
    .check = check,
    .affected_files = affected_files,
    .preview = preview,
    .ignored = ignored,
    .git_locks = git_locks,
    .moves = moves,
    .summarize = summarize,
};
