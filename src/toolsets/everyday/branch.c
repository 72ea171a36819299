// SPDX-License-Identifier: Apache-2.0
/* git_branch: list branches, create, rename or delete them. */
#include <stdlib.h>
#include <string.h>

#include "gitops/command.h"
#include "gitops/git_lock.h"
#include "gitops/plumbing/revision.h"
#include "gitops/porcelain/branch.h"
#include "gitops/reading/read_refs.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "tool/resolved.h"
#include "toolsets/everyday/branch_delete.h"
#include "toolsets/everyday/branch_list.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/outcome.h"

#define OUTPUT_BYTES (64u * 1024u)

enum action { LIST, CREATE, RENAME, DELETE };

struct branch_args {
    int action; /* enum action */
    const char *name, *new_name, *from, *merged_into, *contains;
    struct al_strv names;
    bool force;
    AL_EVERYDAY_FIELDS;
};

static const struct al_choice actions[] = {
    { "list", LIST }, { "create", CREATE }, { "rename", RENAME }, { "delete", DELETE }, { NULL, 0 },
};

#define REVISION_ROW(field, about)                                                                 \
    AL_STRING(struct branch_args, field, about, .flags = AL_PARAM_NAME | AL_PARAM_NO_DESCRIPTION,  \
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES)

static const struct al_param params[] = {
    AL_CHOICE(struct branch_args, action, "What to do.", .choices = actions, .default_int = LIST,
              .flags = AL_PARAM_NO_DESCRIPTION),
    AL_STRING(struct branch_args, name, "A glob for list.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_STRINGS(struct branch_args, names, "Several to delete.",
               .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH, .max = AL_EVERYDAY_PATHS_MAX,
               .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_STRING(struct branch_args, new_name, "For rename.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_NO_DESCRIPTION,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    REVISION_ROW(from, "Where a created branch begins."),
    REVISION_ROW(merged_into, "List: only what this commit contains."),
    AL_BOOL(struct branch_args, force, "Delete what is not merged.", .flags = 0),
    REVISION_ROW(contains, "List: only what contains this commit."),
    AL_EVERYDAY_WORKING_DIR_ROW(struct branch_args),
};

static int action_of(const void *p)
{
    return ((const struct branch_args *)p)->action;
}

static bool is_list(const struct al_call *call, const void *p)
{
    (void)call;
    return action_of(p) == LIST;
}

static bool is_create(const struct al_call *call, const void *p)
{
    (void)call;
    return action_of(p) == CREATE;
}

static bool is_rename(const struct al_call *call, const void *p)
{
    (void)call;
    return action_of(p) == RENAME;
}

static bool is_delete(const void *p)
{
    return action_of(p) == DELETE;
}

/* Refuse an argument that the action does not have. */
static int check_fits(const struct branch_args *args, struct al_error *err)
{
    const struct {
        bool given;
        const char *name;
        unsigned actions;
    } known[] = {
        { args->name != NULL, "name", 1u << LIST | 1u << CREATE | 1u << RENAME | 1u << DELETE },
        { args->names.count > 0, "names", 1u << DELETE },
        { args->new_name != NULL, "new_name", 1u << RENAME },
        { args->from != NULL, "from", 1u << CREATE },
        { args->merged_into != NULL, "merged_into", 1u << LIST },
        { args->contains != NULL, "contains", 1u << LIST },
        { args->force, "force", 1u << DELETE },
    };

    for (size_t i = 0; i < AL_COUNT(known); i++)
        if (known[i].given && !(known[i].actions & 1u << args->action))
            return al_failure_bad_args(err, "Leave it out, or give the action that has it.",
                                       "%s has no meaning for action %s", known[i].name,
                                       actions[args->action].name);
    return 0;
}

static int check_names(const struct branch_args *args, struct al_error *err)
{
    int r = 0;

    if (args->name && args->action == LIST)
        r = *args->name == '-' || !*args->name
                ? al_failure_bad_args(err, "Give a glob like feature/*.", "name is no glob")
                : 0;
    else if (args->name)
        r = al_arg_check_branch("name", args->name, err);
    for (size_t i = 0; i < args->names.count && r == 0; i++)
        r = al_arg_check_branch("names", args->names.items[i], err);
    if (r == 0 && args->new_name)
        r = al_arg_check_branch("new_name", args->new_name, err);
    if (r == 0 && args->from)
        r = al_arg_check_revision("from", args->from, err);
    if (r == 0 && args->merged_into)
        r = al_arg_check_revision("merged_into", args->merged_into, err);
    if (r == 0 && args->contains)
        r = al_arg_check_revision("contains", args->contains, err);
    return r;
}

static int check(const void *p, struct al_error *err)
{
    const struct branch_args *args = p;
    int r = check_fits(args, err);

    if (r < 0)
        return r;
    if (args->action == CREATE && !args->name)
        return al_failure_bad_args(err, "Give name.", "create needs the name of the branch");
    if (args->action == RENAME && !args->new_name)
        return al_failure_bad_args(err, "Give new_name, and name unless it is the current branch.",
                                   "rename needs new_name");
    if (args->action == DELETE && !args->name == !args->names.count)
        return al_failure_bad_args(err, "Give name for one branch, names for several.",
                                   "delete needs either name or names");
    return check_names(args, err);
}

/* The commit that a branch begins at is part of what is approved. */
static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_freep) char *oid = NULL;
    int r = args->action == CREATE
                ? al_git_resolve_commit(al_call_repo(call), args->from ? args->from : "HEAD",
                                        al_call_budget(call), &oid, err)
                : 0;

    if (r == 0 && oid)
        al_resolved_add(out, AL_RESOLVED_COMMIT, oid);
    return r;
}

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = p;
    const struct al_refs_query query = { .remotes = true,
                                         .pattern = args->name,
                                         .merged_into = args->merged_into,
                                         .contains = args->contains };

    return al_branch_list(call, &query, result, err);
}

static int create(struct al_call *call, const void *p, struct al_result *result,
                  struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_git_branch_create_from(al_call_repo(call), args->name, args->from,
                                      al_call_resolved(call, AL_RESOLVED_COMMIT),
                                      al_call_budget(call), err);

    if (r < 0)
        return r;
    al_str_addf(&text, "Created branch %s; git_switch changes to it.\n", args->name);
    al_answer_done(call, &text, result);
    return 0;
}

/* The branch to rename: the current one unless it is named.  NULL: HEAD is on none. */
static char *renamed_branch(const struct al_call *call, const struct branch_args *args)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    if (args->name)
        return al_strdup(args->name);
    al_ref_follow_head(&al_call_repo(call)->at, &refs);
    return refs.count && al_starts_with(refs.items[0], "refs/heads/")
               ? al_strdup(refs.items[0] + strlen("refs/heads/"))
               : NULL;
}

static int rename_branch(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *name = renamed_branch(call, args);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    if (!name)
        return al_failure_bad_args(err, "Give name.", "HEAD is on no branch");
    r = al_git_branch_rename(al_call_repo(call), name, args->new_name, OUTPUT_BYTES,
                             al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    al_str_addf(&text, "Renamed branch %s to %s.\n", name, args->new_name);
    al_answer_done(call, &text, result);
    return 0;
}

/* The branches to delete. */
static void add_deleted(const struct branch_args *args, struct al_strv *out)
{
    if (args->name)
        al_strv_add(out, args->name);
    for (size_t i = 0; i < args->names.count; i++)
        al_strv_add(out, args->names.items[i]);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (args->action != DELETE)
        return 0;
    add_deleted(args, &names);
    return al_branch_delete_check(call, &names, args->force, err);
}

static int delete_one(struct al_call *call, const char *name, bool force, struct al_str *text,
                      struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);
    al_auto(al_freep) char *oid = al_ref_oid(&al_call_repo(call)->at, ref);
    int r = al_git_branch_delete(al_call_repo(call), name, force, OUTPUT_BYTES,
                                 al_call_budget(call), &output, err);

    if (r == 0)
        al_str_addf(text, "Deleted branch %s, was at %.8s.\n", name, oid);
    return r;
}

static int remove_branches(struct al_call *call, const void *p, struct al_result *result,
                           struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = 0;

    add_deleted(args, &names);
    for (size_t i = 0; i < names.count && r == 0; i++)
        r = delete_one(call, names.items[i], args->force, &text, err);
    if (r < 0)
        return r;
    al_answer_done(call, &text, result);
    return 0;
}

static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct branch_args *args = p;

    (void)err;
    if (args->name && (args->action == DELETE || args->action == RENAME))
        al_git_branch_files(al_call_repo(call), args->name, out);
    for (size_t i = 0; i < args->names.count; i++)
        al_git_branch_files(al_call_repo(call), args->names.items[i], out);
    return 0;
}

static int show_created(struct al_call *call, const struct branch_args *args, struct al_str *out,
                        struct al_error *err)
{
    int r = al_git_branch_create_check(al_call_repo(call), args->name, err);

    if (r < 0)
        return r;
    al_str_adds(out, "At ");
    r = al_outcome_add_commit(call, al_call_resolved(call, AL_RESOLVED_COMMIT), out, err);
    al_str_addc(out, '\n');
    return r;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_freep) char *renamed = NULL;
    int r = 0;

    (void)op;
    if (args->action == CREATE)
        return show_created(call, args, out, err);
    if (args->action == RENAME) {
        renamed = renamed_branch(call, args);
        return renamed
                   ? al_git_branch_rename_check(al_call_repo(call), renamed, args->new_name, err)
                   : 0;
    }
    if (args->name)
        r = al_git_branch_preview(al_call_repo(call), args->name, al_call_budget(call), out, err);
    for (size_t i = 0; i < args->names.count && r == 0; i++)
        r = al_git_branch_preview(al_call_repo(call), args->names.items[i], al_call_budget(call),
                                  out, err);
    return r;
}

static const struct al_operation operations[] = {
    { "list", is_list, AL_READS, list, AL_ASKS_NEVER },
    { "create", is_create, AL_WRITES_REFS | AL_WRITES_CONFIG, create, AL_ASKS_NEVER },
    { "rename", is_rename, AL_WRITES_REFS | AL_WRITES_CONFIG, rename_branch, AL_ASKS_UNLESS_SAVED },
    { "delete", NULL, AL_WRITES_REFS | AL_WRITES_CONFIG | AL_DISCARDS_WORK, remove_branches,
      AL_ASKS_UNLESS_SAVED },
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
        al_str_addf(out, "Rename branch '%s' to '%s'", args->name ? args->name : "HEAD",
                    args->new_name);
    else if (args->name)
        al_str_addf(out, "Delete branch '%s'", args->name);
    else
        al_str_addf(out, "Delete %zu branches", args->names.count);
}

const struct al_tool al_tool_everyday_branch = {
    .name = "git_branch",
    .title = "Branches",
    .about = "List branches, or create, rename or delete some.",
    .params = params,
    .nparams = AL_COUNT(params),
    AL_EVERYDAY_TOOL(struct branch_args),
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .deletes_branch = is_delete,
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .affected_files = affected_files,
    .preview = preview,
    .git_locks = git_locks,
    .summarize = summarize,
};
