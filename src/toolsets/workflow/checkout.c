// SPDX-License-Identifier: Apache-2.0
/* git_checkout: switch to a branch or commit, or restore files from one. */
#include "gitops/porcelain/checkout.h"
#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/revision.h"
#include "gitops/preview/affected_files.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/sequencer/merge.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "tool/resolved.h"
#include "toolsets/checkout.h"
#include "toolsets/workflow/results.h"
#include "toolsets/workflow/workflow.h"
#include "util/utf8.h"

/** Limit for hash and subject of the commit that HEAD was at, in a note. */
#define SUBJECT_MAX_BYTES 200

struct checkout_args {
    const char *target;
    bool create, force;
    struct al_strv paths;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct checkout_args, target, "Branch or commit.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_BRANCH, .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_BOOL(struct checkout_args, create, "Create the branch if there is none.", .default_int = 0),
    AL_STRINGS(struct checkout_args, paths, "Only put these files back as target has them.",
               .flags = AL_PARAM_PATH, .max = AL_WORKFLOW_PATHS_MAX,
               .max_bytes = AL_WORKFLOW_PATH_MAX_BYTES),
    AL_BOOL(struct checkout_args, force, "Discard local changes.", .default_int = 0),
    AL_WORKFLOW_CWD_ROW(struct checkout_args),
};

static bool restores(const struct checkout_args *args)
{
    return args->paths.count > 0;
}

AL_WHEN(only_restores, struct checkout_args, !args->force && restores(args))
AL_WHEN(may_create, struct checkout_args, !args->force && args->create)
AL_WHEN(is_not_forced, struct checkout_args, !args->force)

static int check(const void *p, struct al_error *err)
{
    const struct checkout_args *args = p;

    if (args->create && restores(args))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "create and paths cannot be given together: files are put back from "
                            "what exists");
    return args->create ? al_arg_check_branch("target", args->target, err)
                        : al_arg_check_revision("target", args->target, err);
}

static bool has_branch(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);

    return al_ref_exists(&repo->at, ref);
}

static bool creates(const struct al_call *call, const struct checkout_args *args)
{
    return args->create && !has_branch(al_call_repo(call), args->target);
}

/* Files may be restored from any tree, such as "HEAD:docs". */
static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct checkout_args *args = p;
    al_auto(al_freep) char *oid = NULL;
    int r;

    if (creates(call, args))
        return 0;
    if (!restores(args))
        return al_resolve_checkout(call, args->target, out, err);
    r = al_git_find_object(al_call_repo(call), args->target, "tree", al_call_budget(call), &oid,
                           err);
    if (r == 0 && oid)
        al_resolved_add(out, AL_RESOLVED_COMMIT, oid);
    return r;
}

static struct al_checkout_options options_of(struct al_call *call, const struct checkout_args *args)
{
    bool makes = creates(call, args);
    struct al_checkout_options options = { .create = makes ? args->target : NULL,
                                           .force = args->force };

    if (!makes)
        al_resolved_checkout(call, args->target, &options);
    return options;
}

static struct al_checkout_from source_of(const struct al_call *call,
                                         const struct checkout_args *args)
{
    const char *tree = al_call_resolved(call, AL_RESOLVED_COMMIT);

    return (struct al_checkout_from){
        .target = tree ? tree : args->target,
        .paths = &args->paths,
        .force = args->force,
    };
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct checkout_args *args = p;
    const struct al_checkout_options options = options_of(call, args);
    const struct al_checkout_from from = source_of(call, args);
    int r;

    if (!restores(args)) {
        /* A new branch is created at HEAD, so files are written only with `force`. */
        const struct al_checkout_options to = {
            .branch = options.branch,
            .commit = options.commit || options.branch ? options.commit : "HEAD",
        };

        return options.create && !args->force
                   ? 0
                   : al_git_checkout_check(al_call_repo(call), &to, al_call_budget(call), err);
    }
    r = al_workflow_check_paths(call, "paths", &args->paths, err);
    return r < 0 ? r
                 : al_git_checkout_from_check(al_call_repo(call), &from, al_call_budget(call), err);
}

static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct checkout_args *args = p;
    const char *target = creates(call, args) ? "HEAD" : source_of(call, args).target;
    const struct al_strv *paths = restores(args) ? &args->paths : NULL;
    struct al_repo *repo = al_call_repo(call);
    int r = al_git_overwritten_files(repo, paths, false, al_call_budget(call), out, err);

    /* Without `force` and paths git itself refuses to overwrite files. */
    if (r < 0 || (!restores(args) && !args->force))
        return r;
    return al_git_untracked_overwritten(repo, target, paths, al_call_budget(call), out, err);
}

static int changed_files(struct al_call *call, const void *p, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct checkout_args *args = p;
    bool makes = !restores(args) && creates(call, args);
    const char *commit = makes ? "HEAD" : al_call_resolved(call, AL_RESOLVED_COMMIT);

    if (!args->force && !restores(args)) {
        *ret_known = true; /* a new branch is created at HEAD, so no file is written */
        return makes ? 0 : al_switch_changed_files(call, ret_known, out, err);
    }
    *ret_known = commit;
    return commit ? al_git_reset_files(al_call_repo(call), commit,
                                       restores(args) ? &args->paths : NULL, false,
                                       al_call_budget(call), ret_known, out, err)
                  : 0;
}

/* Show the changes that are lost. */
static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct checkout_args *args = p;
    const struct al_diff_options options = {
        .unified = -1,
        .from_ref = restores(args) ? source_of(call, args).target : "HEAD",
        .paths = restores(args) ? &args->paths : NULL,
    };
    al_auto(al_str_clear) struct al_str loss = AL_STR_INIT;
    int r;
    al_auto(al_freep) char *head = al_ref_head(&al_call_repo(call)->at);

    (void)op;
    if (!restores(args))
        al_switch_preview_operation(call, out);
    r = restores(args) || creates(call, args) ? 0 : al_switch_check(call, args->target, err);
    if (r < 0)
        return r;
    if ((!args->force && !restores(args)) || !*head)
        return 0;
    r = al_git_diff_excerpt(al_call_repo(call), &options, al_call_budget(call), &loss, err);
    if (r == 0)
        r = al_git_unseen_changes_excerpt(al_call_repo(call), options.paths, al_call_budget(call),
                                          &loss, err);
    if (r == 0 && loss.len)
        al_str_addf(out, "This is lost:\n%s", loss.buf);
    return r;
}

/* The branch of HEAD, or the full hash of its commit.  Caller frees. */
static char *current_ref(struct al_call *call)
{
    al_auto(al_freep) char *branch = al_workflow_current_branch(call);

    return strcmp(branch, "HEAD") != 0 ? al_take(&branch) : al_ref_head(&al_call_repo(call)->at);
}

static void set_result(struct al_call *call, bool created, const struct al_buffer *files,
                       struct al_result *result)
{
    static const char *const hooks[] = { "post-checkout", "reference-transaction",
                                         "post-index-change", NULL };
    al_auto(al_freep) char *ref = current_ref(call);
    json_t *object = al_json_object();

    al_json_set(object, "ref", al_json_string(ref));
    al_json_set(object, "created", al_json_bool(created));
    if (files)
        al_json_set(object, "restoredFiles",
                    al_workflow_names(files, al_call_max_bytes(call), &result->truncated));
    al_result_set_structured(result, object);
    al_workflow_skipped(call, hooks, false, result);
}

/* Note the commit of the old HEAD if no branch or tag contains it.  git's warning lists such
 * commits, HEAD's first; git's advice names commands that the caller does not have. */
static void note_dangling_commit(const struct al_git_output *output, struct al_result *result)
{
    const char *warning = strstr(output->err.out.buf, "Warning: you are leaving ");
    const char *commit = warning ? strstr(warning, "\n  ") : NULL;
    al_auto(al_freep) char *line = NULL;
    int len, hash;

    if (!commit)
        return;
    commit += strlen("\n  ");
    len = (int)strcspn(commit, "\n");
    hash = (int)strcspn(commit, " \n");
    if (len > SUBJECT_MAX_BYTES)
        len = (int)al_utf8_floor(commit, SUBJECT_MAX_BYTES);
    line = al_asprintf("HEAD was at %.*s, which is on no branch; git_checkout with target %.*s, "
                       "then git_branch with action create, keeps it",
                       len, commit, hash, commit);
    al_result_note(result, line);
}

static int switch_to(struct al_call *call, const struct checkout_args *args,
                     struct al_result *result, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    const struct al_checkout_options options = options_of(call, args);
    bool existed = has_branch(repo, args->target);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_switch_origin_clear) struct al_switch_origin origin = al_switch_origin_get(call);
    int r = al_git_checkout(repo, &options, al_call_max_bytes(call), al_call_budget(call), &output,
                            err);

    if (r < 0) {
        if (err->reason && err->code == AL_CODE_NONE)
            err->code = AL_CODE_BRANCH_NOT_FOUND;
        return r;
    }
    /* git also creates a branch from a remote branch of the name, if there is only one. */
    set_result(call, !existed && has_branch(repo, args->target), NULL, result);
    note_dangling_commit(&output, result);
    al_switch_note_operation(call, &origin, result);
    return 0;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct checkout_args *args = p;
    const struct al_checkout_from from = source_of(call, args);
    struct al_buffer files = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r;

    if (!restores(args))
        return switch_to(call, args, result, err);
    r = al_git_checkout_from(al_call_repo(call), &from, al_call_budget(call), &files, err);
    if (r == 0)
        set_result(call, false, &files, result);
    al_buffer_clear(&files);
    return r;
}

/* AL_WRITES_CONFIG: with branch.autoSetupMerge git sets an upstream for a new branch. */
#define SWITCHES (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_WRITES_CONFIG)

static const struct al_operation operations[] = {
    { "restore_paths", only_restores, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK,
      execute, AL_ASKS_NEVER },
    { "create", may_create, SWITCHES, execute, AL_ASKS_NEVER },
    { "switch", is_not_forced, SWITCHES, execute, AL_ASKS_NEVER },
    { "force", NULL, SWITCHES | AL_DISCARDS_WORK, execute, AL_ASKS_ALWAYS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct checkout_args *args = p;

    (void)op;
    if (restores(args))
        al_str_addf(out, "Put %zu file(s) back from '%s'", args->paths.count, args->target);
    else if (args->create)
        al_str_addf(out, "Create and switch to branch '%s'", args->target);
    else
        al_str_addf(out, "Switch to '%s'", args->target);
    if (args->force)
        al_str_adds(out, ", discarding local changes");
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "ref": {"type": "string"},
        "created": {"type": "boolean"},
        "restoredFiles": {"type": "array", "items": {"type": "string"}}
    },
    "required": ["ref", "created"]
});
/* clang-format on */

const struct al_tool al_tool_workflow_checkout = {
    .name = "git_checkout",
    .title = "Check out",
    .about = "Switch to a branch or commit, or put files back as a commit has them (paths).",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct checkout_args),
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .affected_files = affected_files,
    .changed_files = changed_files,
    .preview = preview,
    .moves_always = AL_MOVES_HEAD | AL_MOVES_NEW,
    .summarize = summarize,
    .output_schema = output_schema,
};
