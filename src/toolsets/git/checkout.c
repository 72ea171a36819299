// SPDX-License-Identifier: Apache-2.0
/* git_checkout: switch to a branch or a commit, or restore files from the index. */
#include "gitops/porcelain/checkout.h"
#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/plumbing/index_facts.h"
#include "gitops/plumbing/revision.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/porcelain/branch.h"
#include "gitops/porcelain/restore.h"
#include "gitops/preview/affected_files.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "gitops/sequencer/merge.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "tool/ignored.h"
#include "tool/resolved.h"
#include "toolsets/checkout.h"
#include "toolsets/git/git.h"

struct checkout_args {
    const char *branch, *create_branch, *commit;
    struct al_strv paths;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct checkout_args, branch, "Branch to switch to.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_EVERY_PATH, .max_bytes = AL_GIT_REF_MAX_BYTES),
    AL_STRING(struct checkout_args, create_branch, "Create and switch to it.",
              .flags = AL_PARAM_BRANCH, .max_bytes = AL_GIT_REF_MAX_BYTES),
    AL_STRING(struct checkout_args, commit, "Detach HEAD there.",
              .flags = AL_PARAM_EVERY_PATH | AL_PARAM_NAME, .max_bytes = AL_GIT_REF_MAX_BYTES),
    AL_STRINGS(struct checkout_args, paths,
               "Put these back from the index, when nothing else is given.", .flags = AL_PARAM_PATH,
               .max = AL_GIT_PATHS_MAX, .max_bytes = AL_GIT_PATH_MAX_BYTES),
    AL_GIT_TIMEOUT_ROW(struct checkout_args),
    AL_GIT_WORKING_DIR_ROW(struct checkout_args),
};

AL_WHEN(creates, struct checkout_args, args->create_branch)
AL_WHEN(switches, struct checkout_args, args->branch)
AL_WHEN(detaches, struct checkout_args, args->commit)

static int check(const void *p, struct al_error *err)
{
    const struct checkout_args *args = p;
    int r = 0;

    if (!args->create_branch && !args->branch && !args->commit && !args->paths.count)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "At least one of branch, create_branch, commit, or paths must be "
                            "specified");
    if (args->create_branch)
        r = al_arg_check_branch("create_branch", args->create_branch, err);
    if (r == 0 && args->branch)
        r = al_arg_check_branch("branch", args->branch, err);
    if (r == 0 && args->commit)
        r = al_arg_check_revision("commit", args->commit, err);
    return r;
}

static bool only_paths(const struct checkout_args *args)
{
    return !args->create_branch && !args->branch && !args->commit;
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct checkout_args *args = p;
    al_auto(al_freep) char *oid = NULL;
    int r;

    if (args->create_branch || only_paths(args))
        return 0;
    if (args->branch)
        return al_resolve_checkout(call, args->branch, out, err);
    r = al_git_find_object(al_call_repo(call), args->commit, "commit", al_call_budget(call), &oid,
                           err);
    if (r == 0 && oid)
        al_resolved_add(out, AL_RESOLVED_COMMIT, oid);
    return r;
}

static struct al_checkout_options options_of(const struct al_call *call,
                                             const struct checkout_args *args)
{
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    struct al_checkout_options options = { .create = args->create_branch };

    if (args->create_branch)
        return options;
    if (args->branch) {
        al_resolved_checkout(call, args->branch, &options);
        return options;
    }
    options.commit = commit ? commit : args->commit;
    return options;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct checkout_args *args = p;
    const struct al_checkout_options options = options_of(call, args);
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r;

    if (args->create_branch)
        return 0; /* the branch is created at HEAD, no file is written */
    if (!only_paths(args))
        return al_git_checkout_check(repo, &options, al_call_budget(call), err);
    r = al_repo_pathspecs(repo, &args->paths, al_call_budget(call), &list, err);
    return r < 0 ? r : al_git_restore_check(repo, &args->paths, al_call_budget(call), err);
}

/* List the files that the arguments match: all, or those of directories and patterns. */
static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct checkout_args *args = p;

    return only_paths(args) ? al_git_overwritten_files(al_call_repo(call), &args->paths, false,
                                                       al_call_budget(call), out, err)
                            : 0;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct checkout_args *args = p;
    const struct al_diff_options options = { .unified = -1, .paths = &args->paths };
    al_auto(al_str_clear) struct al_str loss = AL_STR_INIT;
    int r;

    (void)op;
    if (!only_paths(args)) {
        al_switch_preview_operation(call, out);
        return args->create_branch
                   ? al_git_branch_create_check(al_call_repo(call), args->create_branch, err)
                   : al_switch_check(call, args->branch ? args->branch : args->commit, err);
    }
    r = al_git_diff_excerpt(al_call_repo(call), &options, al_call_budget(call), &loss, err);
    if (r == 0)
        r = al_git_unseen_changes_excerpt(al_call_repo(call), &args->paths, al_call_budget(call),
                                          &loss, err);
    if (r == 0 && loss.len)
        al_str_addf(out, "This is lost; the files come back from the index:\n%s", loss.buf);
    else if (r == 0)
        al_call_skip_approval(call);
    return r;
}

static int changed_files(struct al_call *call, const void *p, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct checkout_args *args = p;

    if (!only_paths(args))
        return al_switch_changed_files(call, ret_known, out, err);
    *ret_known = !al_repo_index_facts(&al_call_repo(call)->at).marks;
    return *ret_known ? al_git_rewritten_files(al_call_repo(call), &args->paths,
                                               al_call_budget(call), out, err)
                      : 0;
}

/* Replace git's advice about commands, which the agent does not have, by one line about a tool. */
static void replace_advice(struct al_str *text)
{
    static const char begin[] = "If you want to create a new branch to retain commits";
    static const char end[] = "advice.detachedHead to false\n";
    const char *from = strstr(text->buf, begin), *to = from ? strstr(from, end) : NULL;
    al_auto(al_str_clear) struct al_str shorter = AL_STR_INIT;

    if (!to)
        return;
    al_str_add(&shorter, text->buf, (size_t)(from - text->buf));
    al_str_adds(&shorter, "git_checkout with create_branch keeps commits that are made here.\n");
    al_str_adds(&shorter, to + strlen(end));
    al_str_reset(text);
    al_str_add(text, shorter.buf, shorter.len);
}

static int switch_to(struct al_call *call, const void *p, struct al_result *result,
                     struct al_error *err)
{
    static const char *const hooks[] = { "post-checkout", "reference-transaction",
                                         "post-index-change", NULL };
    const struct checkout_args *args = p;
    struct al_repo *repo = al_call_repo(call);
    const struct al_checkout_options options = options_of(call, args);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    al_auto(al_switch_origin_clear) struct al_switch_origin origin = al_switch_origin_get(call);
    int r = al_git_checkout(repo, &options, al_call_max_bytes(call), al_call_budget(call), &output,
                            err);

    if (r < 0)
        return r;
    /* git checkout prints its normal messages on stderr. */
    al_str_add(&output.out.out, output.err.out.buf, output.err.out.len);
    al_str_reset(&output.err.out);
    replace_advice(&output.out.out);
    al_git_skipped_hooks(repo, hooks, &notes);
    al_call_shape_text(call, &output, notes.buf, result);
    al_switch_note_operation(call, &origin, result);
    return 0;
}

static int restore_paths(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct checkout_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_checkout_paths(al_call_repo(call), &args->paths, al_call_max_bytes(call),
                                  al_call_budget(call), &output, err);

    if (r < 0)
        return r;
    al_str_reset(&output.err.out); /* "Updated 1 path from the index" */
    al_git_shape_restored(call, &args->paths, false, &output, result);
    return 0;
}

/* AL_WRITES_CONFIG: with branch.autoSetupMerge git sets an upstream for a new branch, and for a
 * local branch that it creates from a remote one. */
static const struct al_operation operations[] = {
    { "create_branch", creates, AL_WRITES_REFS | AL_WRITES_CONFIG, switch_to, AL_ASKS_BY_EFFECTS },
    { "switch", switches, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_WRITES_CONFIG,
      switch_to, AL_ASKS_BY_EFFECTS },
    { "commit", detaches, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, switch_to,
      AL_ASKS_BY_EFFECTS },
    { "restore_paths", NULL, AL_WRITES_WORKTREE | AL_DISCARDS_WORK, restore_paths,
      AL_ASKS_BY_EFFECTS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct checkout_args *args = p;

    (void)op;
    if (args->create_branch)
        al_str_addf(out, "Create and switch to branch '%s'", args->create_branch);
    else if (args->branch)
        al_str_addf(out, "Switch to branch '%s'", args->branch);
    else if (args->commit)
        al_str_addf(out, "Checkout commit '%s'", args->commit);
    else
        al_str_addf(out, "Restore %zu file(s) from HEAD", args->paths.count);
}

static void ignored(const void *p, struct al_ignored *out)
{
    const struct checkout_args *args = p;
    const char *create = args->create_branch, *branch = args->branch, *commit = args->commit;

    out->since = create ? "create_branch is given" : branch ? "branch is given" : "commit is given";
    al_ignored_add(out, create && branch, "branch");
    al_ignored_add(out, (create || branch) && commit, "commit");
    al_ignored_add(out, (create || branch || commit) && args->paths.count, "paths");
}

const struct al_tool al_tool_git_checkout = {
    .name = "git_checkout",
    .title = "Check out",
    .about = "Switch to a branch, create one, look at a commit, or put files back from the index.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct checkout_args),
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .affected_files = affected_files,
    .changed_files = changed_files,
    .preview = preview,
    .ignored = ignored,
    .moves_always = AL_MOVES_HEAD | AL_MOVES_NEW,
    .summarize = summarize,
};
