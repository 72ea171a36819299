// SPDX-License-Identifier: Apache-2.0
/* git_restore: take back changes of files, or unstage them; with git's words, and with text of our
 * own, for hunks and from any revision too. */

#include "git/diff/diff.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/index_scan.h"
#include "tools/private.h"
#include "verbs/preview/affected_files.h"

struct restore_args {
    struct al_strv paths, hunks;
    bool staged;
    bool worktree; /* of the toolset git, where it is the default */
    const char *rev;
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

static bool writes_files(const struct restore_args *args)
{
    return args->worktree || !args->staged || args->rev;
}

AL_WHEN(only_index, struct restore_args, !writes_files(args))
AL_WHEN(only_files, struct restore_args, !args->staged)

static enum al_hunk_side side_of(const struct restore_args *args)
{
    return args->staged ? AL_HUNKS_STAGED : AL_HUNKS_UNSTAGED;
}

static int files_of_hunks(struct al_call *call, const struct restore_args *args,
                          struct al_strv *out, struct al_error *err)
{
    al_auto(al_chosen_clear) struct al_chosen chosen = AL_CHOSEN_INIT;
    int r = al_chosen_read(call, side_of(args), &args->hunks, NULL, &chosen, err);

    if (r == 0)
        al_chosen_files(call, &chosen, out);
    return r;
}

/* List the files that the arguments match: all, or those of directories, patterns and hunks. */
static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct restore_args *args = al_call_args(call);
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    struct al_repo *repo = al_call_repo(call);
    int r;

    r = args->hunks.count ? files_of_hunks(call, args, out, err) : 0;
    if (r < 0 || (args->hunks.count && !args->paths.count))
        return r;
    if (!writes_files(args))
        return al_git_affected_files(repo, &args->paths, false, out, err);
    r = al_git_overwritten_files(repo, &args->paths, false, out, err);
    if (r == 0 && (commit || args->staged))
        r = al_git_untracked_overwritten(repo, commit ? commit : "HEAD", &args->paths, out, err);
    return r;
}

/* git also writes, with rev, files that are as the index has them, or that it does not know. */
static int changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct restore_args *args = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);

    if (args->staged && args->worktree)
        return al_git_reset_files(repo, "HEAD", &args->paths, false, ret_known, out, err);
    *ret_known = !args->staged && !args->rev && !al_repo_index_facts(&repo->at).marks;
    if (!*ret_known)
        return 0;
    if (args->hunks.count) {
        int r = files_of_hunks(call, args, out, err);

        if (r < 0 || !args->paths.count)
            return r;
    }
    return al_git_rewritten_files(repo, &args->paths, out, err);
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct restore_args *args = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    const struct al_strv *files;
    int r = al_repo_pathspecs(repo, &args->paths, &list, err);

    if (r == 0 && writes_files(args) && args->paths.count)
        r = al_git_restore_check(repo, &args->paths, err);
    if (r == 0 && args->hunks.count)
        r = al_call_affected_files(call, &files, err);
    if (r == 0 && args->hunks.count && writes_files(args))
        r = al_git_restore_check(repo, files, err);
    return r;
}

/* Append lost changes under a title; nothing if there are none. */
static int show_loss(struct al_call *call, const struct restore_args *args, bool cached,
                     const char *title, struct al_str *out, struct al_error *err)
{
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    /* An untracked file is deleted for git, and what it shows is the commit's. */
    const struct al_diff_options options = {
        .cached = cached,
        .not_deleted = commit && !cached,
        .unified = -1,
        .from_ref = commit,
        .paths = &args->paths,
    };
    int r = al_git_loss_excerpt(al_call_repo(call), &options, title, out, err);

    return r == 0 && commit && !cached
               ? al_git_untracked_excerpt(al_call_repo(call), commit, &args->paths, out, err)
               : r;
}

/* Show what is lost: unstaged changes, staged ones, or both. */
static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct restore_args *args = al_call_args(call);
    bool both = args->staged && args->worktree;
    int r = 0;

    if (args->hunks.count)
        r = al_chosen_show(call, &args->hunks, out, err);
    if (args->hunks.count && !args->paths.count)
        return r;
    if (r == 0 && args->staged)
        r = show_loss(call, args, true,
                      both ? "This is staged, and lost:" : "This is no longer staged:", out, err);
    if (r == 0 && writes_files(args))
        r = show_loss(call, args, false,
                      both ? "This is not staged, and lost:" : "This is lost:", out, err);
    if (r == 0 && !out->len)
        al_call_plan(call)->skips_approval = true;
    return r;
}

static struct al_restore_options options_of(const struct al_call *call,
                                            const struct restore_args *args)
{
    return (struct al_restore_options){
        .paths = &args->paths,
        .staged = args->staged,
        .worktree = writes_files(args),
        .source = al_call_resolved(call, AL_RESOLVED_COMMIT),
    };
}

/* The part that both tools have. */
#define INDEX (AL_WRITES_INDEX | AL_DISCARDS_WORK)
#define FILES (AL_WRITES_WORKTREE | AL_DISCARDS_WORK)
#define SHARED                                                                                     \
    .name = "git_restore", .authorize = authorize, .affected_files = affected_files,               \
    .changed_files = changed_files, .preview = preview

/* The toolset git. */

int al_git_restore_named(struct al_call *call, const struct al_restore_options *options,
                         bool unstaged, struct al_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_restore(al_call_repo(call), options, al_call_max_bytes(call), &output, err);

    if (r < 0)
        return r;
    al_str_reset(&output.out.out);
    al_str_addf(&output.out.out, "Restored %zu file(s)%s", options->paths->count,
                unstaged ? "\nStaged changes were unstaged and discarded" : "");
    return al_call_shape_text(call, r, &output, "", result);
}

static const struct al_param git_params[] = {
    AL_STRINGS(struct restore_args, paths, "Files to restore.",
               .flags = AL_PARAM_REQUIRED | AL_PARAM_PATH, .min = 1,
               .bad_message = "paths must contain at least one element"),
    AL_BOOL(struct restore_args, staged, "Unstage."),
    AL_BOOL(struct restore_args, worktree,
            "Lose the changes on disk, with staged too; false: the file on disk stays.",
            .default_int = 1),
    AL_GIT_COMMON_ROWS(struct restore_args),
};

static int git_check(void *p, struct al_error *err)
{
    const struct restore_args *args = p;

    if (!args->staged && !args->worktree)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "At least one of staged or worktree must be true");
    return 0;
}

static int git_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct restore_args *args = al_call_args(call);
    const struct al_restore_options options = options_of(call, args);
    bool both = false;
    int r = 0;

    if (args->staged && args->worktree)
        r = al_git_has_staged(al_call_repo(call), &args->paths, &both, err);
    return r < 0 ? r : al_git_restore_named(call, &options, both, result, err);
}

static const struct al_operation git_operations[] = {
    { "worktree", only_files, FILES, git_execute, AL_ASKS_BY_EFFECTS },
    { "staged", only_index, INDEX, git_execute, AL_ASKS_BY_EFFECTS },
    { "both", NULL, INDEX | AL_WRITES_WORKTREE, git_execute, AL_ASKS_BY_EFFECTS },
};

const struct al_tool al_tool_git_restore = {
    SHARED,
    .title = "Restore files",
    .about = "Discard changes of files on disk, or unstage them.",
    AL_TOOL_ROWS(git_params, git_operations),
    AL_DIALECT_TOOL(struct restore_args),
    .check = git_check,
    .summary = "[!staged?Restore {#paths} file(s) to worktree]"
               "[staged?[worktree?Restore and unstage][!worktree?Unstage] {#paths} file(s)]",
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_PATHS_ROW(struct restore_args, .min = 0),
    AL_CHOSEN_ROW(struct restore_args),
    AL_BOOL(struct restore_args, staged, "Unstage, the file stays; with rev: both."),
    AL_STRING(struct restore_args, rev, "Restore as it is there.", .flags = AL_PARAM_NAME,
              .check = al_arg_check_revision),
    AL_WORKING_DIR_ROW(struct restore_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    const struct restore_args *args = p;

    if (!args->paths.count && !args->hunks.count)
        return al_failure_bad_args(err, "paths [\".\"] is everything in working_dir.",
                                   "Name what to restore: paths or hunks");
    if (args->hunks.count && args->rev)
        return al_failure_bad_args(err, "git_restore with paths takes whole files from a revision.",
                                   "hunks and rev cannot be given together");
    return 0;
}

static int resolve(struct al_call *call, struct al_error *err)
{
    const struct restore_args *args = al_call_args(call);

    return args->rev ? al_resolve_commit(call, args->rev, err) : 0;
}

/* List the files that differ from what they are restored from, with a filter of git diff
 * (NULL: all). */
static int list_filtered(struct al_call *call, const struct restore_args *args, const char *filter,
                         struct al_strv *out, struct al_error *err)
{
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    const char *options[] = { "--no-renames", "--ignore-submodules=dirty",
                              filter ? filter : "--no-renames",
                              args->staged && !commit ? "--cached" : commit, NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = al_repo_pathspecs(al_call_repo(call), &args->paths, &words, err);

    return r < 0 ? r : al_batch_list_diff(al_call_repo(call), options, &words, out, err);
}

/* Of files whose changes are all staged the other call is named. */
static int say_nothing(struct al_call *call, const struct restore_args *args, struct al_str *text,
                       struct al_error *err)
{
    const struct restore_args of_index = { .paths = args->paths, .staged = true };
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT;
    int r = args->rev || args->staged ? 0 : list_filtered(call, &of_index, NULL, &staged, err);

    if (r < 0)
        return r;
    if (!staged.count) {
        al_str_adds(text, args->rev      ? "Nothing to restore: it is as it is there.\n"
                          : args->staged ? "Nothing to unstage: nothing there is staged.\n"
                                         : "Nothing to restore: nothing there is changed.\n");
        return 0;
    }
    al_str_adds(text, "Nothing to restore: the files are as they are staged. staged: true "
                      "unstages, staged: true with rev \"HEAD\" also restores: ");
    al_chosen_add_names(call, &staged, text);
    al_str_addc(text, '\n');
    return 0;
}

/* Say what was restored, and what git removed since the revision does not have it.
 *
 * @param removed  Some of `files`, in the same order. */
static void say_done(struct al_call *call, const struct restore_args *args,
                     const struct al_strv *files, const struct al_strv *removed,
                     struct al_str *text)
{
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    al_auto(al_strv_clear) struct al_strv restored = AL_STRV_INIT;
    size_t next = 0;

    for (size_t i = 0; i < files->count; i++)
        if (next < removed->count && !strcmp(files->items[i], removed->items[next]))
            next++;
        else
            al_strv_add(&restored, files->items[i]);
    if (restored.count) {
        al_str_adds(text, args->rev      ? "Restored "
                          : args->staged ? "Unstaged "
                                         : "Discarded changes of ");
        al_chosen_add_names(call, &restored, text);
        if (args->rev)
            al_str_addf(text, " as of %.*s", AL_SHORT_ID, commit);
        al_str_addc(text, '\n');
    }
    if (!removed->count)
        return;
    al_str_adds(text, "Removed ");
    al_chosen_add_names(call, removed, text);
    al_str_addf(text, ": %s not in %.*s\n", removed->count == 1 ? "it is" : "they are", AL_SHORT_ID,
                commit);
}

static int restore_files(struct al_call *call, const struct restore_args *args, struct al_str *text,
                         struct al_error *err)
{
    const struct al_restore_options options = options_of(call, args);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv removed = AL_STRV_INIT;
    int r = list_filtered(call, args, NULL, &files, err);

    if (r == 0 && args->rev && files.count)
        r = list_filtered(call, args, "--diff-filter=A", &removed, err);
    if (r == 0)
        r = al_git_restore(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);
    if (r < 0)
        return r;
    if (!files.count)
        return say_nothing(call, args, text, err);
    say_done(call, args, &files, &removed, text);
    return 0;
}

static int everyday_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    static const char hooks[] = "post-index-change";
    const struct restore_args *args = al_call_args(call);
    struct al_str *text = &result->text;
    al_auto(al_chosen_clear) struct al_chosen chosen = AL_CHOSEN_INIT;
    int r = args->hunks.count
                ? al_chosen_read(call, side_of(args), &args->hunks, NULL, &chosen, err)
                : 0;

    if (r == 0 && args->hunks.count)
        r = al_chosen_apply(call, &chosen, args->staged ? AL_HUNKS_UNSTAGE : AL_HUNKS_DISCARD,
                            args->staged ? "Unstaged" : "Discarded", text, err);
    if (r == 0 && args->paths.count)
        r = restore_files(call, args, text, err);
    if (r == 0 && args->staged)
        al_outcome_add_skipped(call, hooks, false, text);
    return r;
}

static const struct al_operation everyday_operations[] = {
    { "unstage", only_index, INDEX, everyday_execute, AL_ASKS_UNLESS_SAVED },
    { "worktree", only_files, FILES, everyday_execute, AL_ASKS_UNLESS_SAVED },
    { "both", NULL, INDEX | AL_WRITES_WORKTREE, everyday_execute, AL_ASKS_UNLESS_SAVED },
};

const struct al_tool al_tool_everyday_restore = {
    SHARED,
    .title = "Restore",
    .about = "Discard changes of files or hunks on disk, or unstage them.",
    AL_TOOL_ROWS(everyday_params, everyday_operations),
    AL_EVERYDAY_TOOL(struct restore_args),
    .check = everyday_check,
    .resolve = resolve,
    .summary = "[hunks?[staged?Unstage][!staged?Discard] {#hunks hunk}]"
               "[!hunks?[rev?Restore][!rev?[staged?Unstage][!staged?Discard changes of]] {paths}]"
               "[rev? as of '{rev}']",
};
