// SPDX-License-Identifier: Apache-2.0
/* git_add: stage files; with git's words, and with text of our own, for hunks too. */

#include "base/log.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/porcelain/commit.h"
#include "verbs/preview/affected_files.h"
#include "verbs/sequencer/resolve.h"

struct add_args {
    struct al_strv paths;
    struct al_strv hunks; /* of the toolset everyday */
    bool all, update;
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

static enum al_add_mode mode_of(const struct add_args *args)
{
    return args->all ? AL_ADD_ALL : args->update ? AL_ADD_UPDATE : AL_ADD_PATHS;
}

/* @param ret_paths  Those of the arguments, and the untracked files that are named by id. */
static int choose(struct al_call *call, const struct add_args *args, struct al_chosen *ret_chosen,
                  struct al_strv *ret_paths, struct al_error *err)
{
    al_strv_add_all(ret_paths, &args->paths);
    return args->hunks.count
               ? al_chosen_read(call, AL_HUNKS_UNSTAGED, &args->hunks, ret_paths, ret_chosen, err)
               : 0;
}

/* List the files that are staged: all, those of paths, or those of hunks. */
static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct add_args *args = al_call_args(call);
    const bool limits = al_call_tool(call) == &al_tool_everyday_add; /* git's paths are ignored */
    const bool every = args->all || (args->update && !(limits && args->paths.count));
    al_auto(al_chosen_clear) struct al_chosen chosen = AL_CHOSEN_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r = choose(call, args, &chosen, &paths, err);

    if (r == 0 && chosen.choice.count)
        al_chosen_files(call, &chosen, out);
    if (r < 0 || (args->hunks.count && !paths.count))
        return r;
    return al_git_affected_files(al_call_repo(call), every ? NULL : &paths, !args->update, out,
                                 err);
}

static const char hooks[] = "post-index-change";

/* The toolset git. */

#define SUMMARY_FILES 2

static const struct al_param git_params[] = {
    AL_STRINGS(struct add_args, paths, "Ignored with all.", .flags = AL_PARAM_PATH,
               .unless = "all update"),
    AL_BOOL(struct add_args, all, "All changes, new files too.", .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL(struct add_args, update, "Tracked files only.", .flags = AL_PARAM_EVERY_PATH),
    AL_GIT_COMMON_ROWS(struct add_args),
};

static int git_check(void *p, struct al_error *err)
{
    const struct add_args *args = p;

    if (!args->paths.count && !args->all && !args->update)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "At least one of paths, all, or update must be specified");
    if (args->all && args->update)
        return al_error_set(err, AL_ERR_BAD_ARGS, "all and update are mutually exclusive");
    return 0;
}

/* Resolve the paths and check for filters before approval. */
static int git_authorize(struct al_call *call, struct al_error *err)
{
    const struct add_args *args = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    const struct al_strv *files;
    int r = 0;

    if (!args->all && !args->update)
        r = al_repo_pathspecs(repo, &args->paths, &words, err);
    if (r < 0 || !repo->vetting->filters.count)
        return r;
    r = al_call_affected_files(call, &files, err);
    return r < 0 ? r : al_git_check_files(repo, files, err);
}

/* The summary names at most two paths; list the files when it does not name them. */
static int git_preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct add_args *args = al_call_args(call);
    bool named = !args->all && !args->update;
    const struct al_strv *files;
    int r = al_call_affected_files(call, &files, err);

    if (r == 0 && named)
        r = al_git_add_check(al_call_repo(call), &args->paths, false, files, err);
    if (r < 0)
        return r;
    if (!named || args->paths.count > SUMMARY_FILES || files->count > args->paths.count)
        al_git_files_excerpt(al_call_repo(call), files, "These files are staged:", out);
    return 0;
}

static int git_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct add_args *args = al_call_args(call);
    const struct al_add_options options = { .mode = mode_of(args), .paths = &args->paths };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    uint64_t count = args->paths.count;
    int r;

    r = al_git_add(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);
    if (r < 0)
        return r;
    al_str_reset(&output.out.out);
    if (options.mode == AL_ADD_PATHS || al_git_count_staged(al_call_repo(call), &count, &why) == 0)
        al_str_addf(&output.out.out, "Staged %llu file(s)", (unsigned long long)count);
    else /* what was staged is staged, whatever keeps it from being counted */
        al_str_adds(&output.out.out, "Staged; the files could not be counted");
    if (why.message)
        al_log_warn("git_add: %s", why.message);
    al_git_skipped_hooks(al_call_repo(call), hooks, &notes);
    return al_call_shape_text(call, r, &output, notes.buf, result);
}

const struct al_tool al_tool_git_add = {
    .name = "git_add",
    .title = "Stage files",
    .about = "Stage files: the named paths, all changes, or tracked files only.",
    AL_TOOL_ONE(git_params, "add", NULL, AL_WRITES_INDEX, git_execute, AL_ASKS_BY_EFFECTS),
    AL_DIALECT_TOOL(struct add_args),
    .check = git_check,
    .authorize = git_authorize,
    .affected_files = affected_files,
    .preview = git_preview,
    .summary = "Stage [all?all changes][!all?[update?modified/deleted files]"
               "[!update?{#paths} file(s): {paths:2}]]",
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_PATHS_ROW(struct add_args, .min = 0),
    AL_CHOSEN_ROW(struct add_args),
    AL_BOOL(struct add_args, all, "Every change, new files too.", .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL(struct add_args, update, "Every change of tracked files.",
            .flags = AL_PARAM_EVERY_PATH),
    AL_WORKING_DIR_ROW(struct add_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    const struct add_args *args = p;

    if (!args->paths.count && !args->hunks.count && !args->all && !args->update)
        return al_failure_bad_args(err, "git_status shows what has changed.",
                                   "Name what to stage: paths, hunks, all or update");
    if (args->hunks.count && (args->all || args->update))
        return al_failure_bad_args(err, "all and update stage every hunk of the files.",
                                   "hunks cannot be given together with all or update");
    if (args->all && args->update)
        return al_failure_bad_args(err, "all includes what update stages.",
                                   "all and update cannot be given together");
    return 0;
}

/* Staging a file marks its conflict as resolved, so it must have no conflict markers left. */
static int check_conflicts(struct al_call *call, const struct al_strv *files, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    int r = al_git_conflicts(repo, &conflicts, err);

    for (size_t i = 0; r == 0 && conflicts.count && i < files->count; i++) {
        const char *name = al_location_worktree_name(&repo->at, files->items[i]);
        const struct al_conflict *conflict = name ? al_conflicts_find(&conflicts, name) : NULL;

        if (conflict)
            r = al_git_check_no_markers(repo, conflict, err);
    }
    return r;
}

/* Add the repositories without a commit, beside which git would add no file. */
static void leave_unborn(struct al_call *call, const struct al_strv *files,
                         struct al_strv *ret_names)
{
    const struct al_repo *repo = al_call_repo(call);

    for (size_t i = 0; i < files->count; i++) {
        struct al_repo *inner = NULL;

        if (al_ends_with(files->items[i], "/") &&
            al_repo_open_at(repo->at.git, repo->at.top, files->items[i], al_call_budget(call),
                            &inner, NULL) == 0 &&
            al_ref_is_unborn(&inner->at))
            al_strv_add(ret_names, al_location_worktree_name(&repo->at, files->items[i]));
        al_repo_free(inner);
    }
}

/* Refuse what git add would refuse after it has staged other paths. */
static int everyday_authorize(struct al_call *call, struct al_error *err)
{
    const struct add_args *args = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *ignored = NULL;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    const struct al_strv *files;
    int r = al_repo_pathspecs(repo, &args->paths, &words, err);

    if (r == 0)
        r = al_call_affected_files(call, &files, err);
    if (r == 0 && args->paths.count)
        r = al_git_find_ignored(repo, &args->paths, &ignored, err);
    if (r == 0 && ignored)
        return al_failure_set(err,
                              "An ignored file is not staged; a user can change the ignore rules, "
                              "or run git add --force.",
                              "%s", ignored);
    if (r == 0 && args->paths.count)
        r = al_git_add_check(repo, &args->paths, false, files, err);
    if (r == 0)
        r = check_conflicts(call, files, err);
    if (r < 0 || args->hunks.count)
        return r < 0 ? r : al_git_check_files(repo, files, err);
    return al_leave_filtered(call, NULL, err);
}

/* Remove the files that were left out from those that are told. */
static void keep_staged(const struct al_call *call, const struct al_strv *files,
                        const struct al_strv *without, const struct al_strv *outside,
                        struct al_strv *out)
{
    for (size_t i = 0; i < files->count; i++) {
        const char *name = al_location_worktree_name(&al_call_repo(call)->at, files->items[i]);

        if (name && !al_strv_contains(without, name) && !al_strv_contains(outside, files->items[i]))
            al_strv_add(out, name);
    }
}

/* Say what was staged, and what was not. */
static void tell(const struct al_call *call, const struct al_strv *staged,
                 const struct al_strv *outside, const struct al_strv *blocking, struct al_str *text)
{
    bool has_inner = false;

    al_str_adds(text, staged->count ? "Staged "
                      : outside->count || blocking->count
                          ? "Nothing was staged"
                          : "Nothing to stage: no change here is unstaged");
    al_chosen_add_names(call, staged, text);
    for (size_t i = 0; i < staged->count; i++)
        has_inner |= al_ends_with(staged->items[i], "/");
    if (has_inner)
        al_str_adds(text,
                    "\nWhat ends with / is a repository of its own: only its commit is staged, "
                    "which a clone of this one lacks");
    al_left_out_add_passed_over(call, "\nNot staged", outside, text);
    if (blocking->count)
        al_str_adds(text,
                    "\nNot staged, since airlock runs no filter, or since a repository has no "
                    "commit; a user can stage them with git itself: ");
    al_chosen_add_names(call, blocking, text);
}

/* @param paths  See choose(). */
static int add_files(struct al_call *call, const struct add_args *args, const struct al_strv *paths,
                     struct al_str *text, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv without = AL_STRV_INIT, staged = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv outside = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str left_out = AL_STR_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    bool passed_over = false;
    const struct al_add_options options = {
        .mode = mode_of(args),
        .paths = paths,
        .without = &without,
        .limited = args->update && args->paths.count,
        .passed_over = &passed_over,
    };
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT, named = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv blocking = AL_STRV_INIT, unstaged = AL_STRV_INIT;
    int r = al_git_affected_files(repo, paths->count && !args->all ? paths : NULL, !args->update,
                                  &files, err);

    if (r == 0)
        r = al_leave_filtered(call, &blocking, err);
    leave_unborn(call, &files, &blocking);
    if (r == 0 && args->all && args->paths.count)
        r = al_git_affected_files(repo, &args->paths, true, &named, err);
    if (r == 0 && args->all) /* what the user names is not left out */
        r = al_leave_out(call, &named, &without, &left_out, err);
    for (size_t i = 0; i < blocking.count; i++) {
        if (al_strv_contains(&without, blocking.items[i]))
            continue;
        al_strv_add(&without, blocking.items[i]);
        al_strv_add(&unstaged, blocking.items[i]);
    }
    if (r == 0)
        r = al_git_add(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);
    /* git passes over files outside the sparse checkout, and over marked ones, without a word. */
    if (r == 0 && paths->count && (passed_over || files.count < paths->count))
        r = al_git_overwritten_files(repo, paths, true, &outside, err);
    else if (r == 0 && !paths->count && al_is_sparse(repo))
        r = al_git_affected_files(repo, NULL, args->all, &outside, err);
    if (r < 0)
        return r;
    keep_staged(call, &files, &without, &outside, &staged);
    tell(call, &staged, &outside, &unstaged, text);
    al_str_addf(text, "\n%s%s", left_out.buf,
                left_out.len ? "; name them in paths to stage them\n" : "");
    return 0;
}

static int everyday_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct add_args *args = al_call_args(call);
    al_auto(al_chosen_clear) struct al_chosen chosen = AL_CHOSEN_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r = choose(call, args, &chosen, &paths, err);

    if (r == 0 && chosen.choice.count)
        r = al_chosen_apply(call, &chosen, AL_HUNKS_STAGE, "Staged", &result->text, err);
    if (r == 0 && (paths.count || !args->hunks.count))
        r = add_files(call, args, &paths, &result->text, err);
    if (r == 0)
        al_outcome_add_skipped(call, hooks, false, &result->text);
    return r;
}

static int everyday_preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_strv *files;
    int r = al_call_affected_files(call, &files, err);

    if (r == 0)
        al_git_files_excerpt(al_call_repo(call), files, "These files are staged:", out);
    return r;
}

const struct al_tool al_tool_everyday_add = {
    .name = "git_add",
    .title = "Stage",
    .about = "Stage files, single hunks, or everything.",
    AL_TOOL_ONE(everyday_params, "add", NULL, AL_WRITES_INDEX, everyday_execute,
                AL_ASKS_UNLESS_SAVED),
    AL_EVERYDAY_TOOL(struct add_args),
    .complete_error = al_everyday_complete_error,
    .check = everyday_check,
    .authorize = everyday_authorize,
    .affected_files = affected_files,
    .preview = everyday_preview,
    .summary = "Stage [hunks?{#hunks hunk}[paths?, {paths}]][!hunks?[all?every change][!all?"
               "[paths?{paths}][!paths?[update?every change of tracked files]]]]",
};
