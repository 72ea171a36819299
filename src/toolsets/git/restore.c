// SPDX-License-Identifier: Apache-2.0
/* git_restore: restore files from the index or from HEAD. */
#include "gitops/porcelain/restore.h"
#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/plumbing/index_facts.h"
#include "gitops/preview/affected_files.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "guard/text.h"
#include "tool/call.h"
#include "toolsets/git/git.h"

struct restore_args {
    struct al_strv paths;
    bool staged, worktree;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_STRINGS(struct restore_args, paths, "Files to restore.",
               .flags = AL_PARAM_REQUIRED | AL_PARAM_PATH, .min = 1, .max = AL_GIT_PATHS_MAX,
               .max_bytes = AL_GIT_PATH_MAX_BYTES,
               .bad_message = "paths must contain at least one element"),
    AL_BOOL(struct restore_args, staged, "Unstage.", .default_int = 0),
    AL_BOOL(struct restore_args, worktree,
            "Lose the changes on disk, with staged too; false: the file on disk stays.",
            .default_int = 1),
    AL_GIT_TIMEOUT_ROW(struct restore_args),
    AL_GIT_WORKING_DIR_ROW(struct restore_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct restore_args *args = p;

    if (!args->staged && !args->worktree)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "At least one of staged or worktree must be true");
    return 0;
}

AL_WHEN(only_worktree, struct restore_args, !args->staged)
AL_WHEN(only_staged, struct restore_args, !args->worktree)

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct restore_args *args = p;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = al_repo_pathspecs(al_call_repo(call), &args->paths, al_call_budget(call), &list, err);

    if (r == 0 && args->worktree)
        r = al_git_restore_check(al_call_repo(call), &args->paths, al_call_budget(call), err);
    return r;
}

/* List the files that the arguments match: all, or those of directories and patterns. */
static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct restore_args *args = p;
    struct al_repo *repo = al_call_repo(call);
    int r =
        args->worktree
            ? al_git_overwritten_files(repo, &args->paths, false, al_call_budget(call), out, err)
            : al_git_affected_files(repo, &args->paths, false, al_call_budget(call), out, err);

    if (r < 0 || !args->staged || !args->worktree)
        return r;
    return al_git_untracked_overwritten(repo, "HEAD", &args->paths, al_call_budget(call), out, err);
}

static int changed_files(struct al_call *call, const void *p, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct restore_args *args = p;

    if (args->staged)
        return al_git_reset_files(al_call_repo(call), "HEAD", &args->paths, false,
                                  al_call_budget(call), ret_known, out, err);
    *ret_known = !al_repo_index_facts(&al_call_repo(call)->at).marks;
    return *ret_known ? al_git_rewritten_files(al_call_repo(call), &args->paths,
                                               al_call_budget(call), out, err)
                      : 0;
}

/* Append lost changes under a title; nothing if there are none. */
static int show_loss(struct al_call *call, const struct restore_args *args, bool cached,
                     const char *title, struct al_str *out, struct al_error *err)
{
    const struct al_diff_options options = {
        .cached = cached,
        .unified = -1,
        .paths = &args->paths,
    };
    al_auto(al_str_clear) struct al_str loss = AL_STR_INIT;
    int r = al_git_diff_excerpt(al_call_repo(call), &options, al_call_budget(call), &loss, err);

    if (r == 0 && !cached)
        r = al_git_unseen_changes_excerpt(al_call_repo(call), &args->paths, al_call_budget(call),
                                          &loss, err);
    if (r == 0 && loss.len)
        al_str_addf(out, "%s\n%s", title, loss.buf);
    return r;
}

/* Show what is lost: unstaged changes, staged ones, or both. */
static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct restore_args *args = p;
    int r = 0;

    (void)op;
    if (args->staged)
        r = show_loss(
            call, args, true,
            args->worktree ? "This is staged, and lost:" : "This is no longer staged:", out, err);
    if (r == 0 && args->worktree)
        r = show_loss(call, args, false,
                      args->staged ? "This is not staged, and lost:" : "This is lost:", out, err);
    if (r == 0 && !out->len)
        al_call_skip_approval(call);
    return r;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct restore_args *args = p;
    const struct al_restore_options options = {
        .paths = &args->paths,
        .staged = args->staged,
        .worktree = args->worktree,
    };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    bool both = false;
    int r = 0;

    if (args->staged && args->worktree)
        r = al_git_has_staged(al_call_repo(call), &args->paths, al_call_budget(call), &both, err);
    if (r == 0)
        r = al_git_restore(al_call_repo(call), &options, al_call_max_bytes(call),
                           al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    al_git_shape_restored(call, &args->paths, both, &output, result);
    return 0;
}

static const struct al_operation operations[] = {
    { "worktree", only_worktree, AL_WRITES_WORKTREE | AL_DISCARDS_WORK, execute,
      AL_ASKS_BY_EFFECTS },
    { "staged", only_staged, AL_WRITES_INDEX | AL_DISCARDS_WORK, execute, AL_ASKS_BY_EFFECTS },
    { "both", NULL, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK, execute,
      AL_ASKS_BY_EFFECTS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct restore_args *args = p;

    (void)op;
    if (!args->staged)
        al_str_addf(out, "Restore %zu file(s) to worktree", args->paths.count);
    else if (!args->worktree)
        al_str_addf(out, "Unstage %zu file(s)", args->paths.count);
    else
        al_str_addf(out, "Restore and unstage %zu file(s)", args->paths.count);
}

const struct al_tool al_tool_git_restore = {
    .name = "git_restore",
    .title = "Restore files",
    .about = "Discard changes of files on disk, or unstage them.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct restore_args),
    .check = check,
    .authorize = authorize,
    .affected_files = affected_files,
    .changed_files = changed_files,
    .preview = preview,
    .summarize = summarize,
};
