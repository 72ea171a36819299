// SPDX-License-Identifier: Apache-2.0
/* git_merge: merge a branch into the current one, conflicts are a result; or abort what is in
 * progress.  Its forms are structured results and text. */

#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/replay/merge_guard.h"

struct merge_args {
    const char *branch, *message;
    bool no_ff, abort, squash;
    const char *working_dir;
};

AL_WHEN(aborts, struct merge_args, args->abort)

/* Resolve the word to a commit, so that the approved commit is merged even if the branch moves. */
static int resolve(struct al_call *call, struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);
    al_auto(al_freep) char *oid = NULL;
    int r;

    if (args->abort)
        return 0;
    r = al_git_resolve_branch(al_call_repo(call), args->branch, &oid, err);
    if (r == 0)
        al_call_resolve(call, AL_RESOLVED_COMMIT, oid);
    return r;
}

static struct al_merge_options options_of(const struct al_call *call, const struct merge_args *args)
{
    return (struct al_merge_options){
        .commit = args->branch,
        .oid = al_call_resolved(call, AL_RESOLVED_COMMIT),
        .message = args->message && *args->message ? args->message : NULL,
        .no_ff = args->no_ff,
        .squash = args->squash,
        .goes_along = al_call_tool(call) == &al_tool_everyday_merge,
        .files = al_call_changed_files(call),
    };
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);
    const struct al_merge_options options = options_of(call, args);
    struct al_repo *repo = al_call_repo(call);

    if (args->abort)
        return al_git_abort_check(repo, err);
    return al_git_merge_check(repo, &options, err);
}

/* The files whose changes an abort discards. */
static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);

    return args->abort ? al_git_abort_affected_files(al_call_repo(call), out, err) : 0;
}

static int changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);

    *ret_known = !args->abort && commit;
    return *ret_known ? al_merge_guard_files(al_call_repo(call), commit, ret_known, out, err) : 0;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);
    const struct al_merge_options options = options_of(call, args);
    struct al_repo *repo = al_call_repo(call);
    bool any = false;
    int r;

    if (args->abort)
        return al_git_abort_preview(repo, out, err);
    r = al_git_merge_preview(repo, &options, out, &any, err);
    if (r == 0 && !any)
        al_call_plan(call)->skips_approval = true;
    return r;
}

/* The effects that both tools have. */
#define MERGES (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS)
#define SHARED                                                                                     \
    .name = "git_merge", .title = "Merge", .moves_branch = true, .resolve = resolve,               \
    .changed_files = changed_files, .preview = preview

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_STRING(struct merge_args, branch, "What to merge; \"\" with abort.",
              .flags =
                  AL_PARAM_REQUIRED | AL_PARAM_MAY_BE_ABSENT | AL_PARAM_EVERY_PATH | AL_PARAM_NAME,
              .unless = "abort"),
    AL_BOOL_AS(struct merge_args, no_ff, "noFf", "Always make a merge commit.", .unless = "abort"),
    AL_BOOL(struct merge_args, abort, "Abort what is in progress."),
    AL_STRING(struct merge_args, message, NULL, .unless = "abort"),
    AL_WORKFLOW_CWD_ROW(struct merge_args),
};

static int workflow_check(void *p, struct al_error *err)
{
    const struct merge_args *args = p;

    if (args->abort)
        return 0;
    if (!args->branch)
        return al_error_about(al_error_set(err, AL_ERR_BAD_ARGS, "branch is required"), err,
                              AL_SUBJECT_REQUIRED, NULL);
    return al_arg_check_revision("branch", args->branch, err);
}

static int workflow_merge(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_merge_options options = options_of(call, al_call_args(call));
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    int r =
        al_merge_guard_run(al_call_repo(call), &options, al_call_max_bytes(call), &outcome, err);

    if (r < 0)
        return r;
    al_result_set(result, "success", al_json_bool(!outcome.conflicted));
    al_result_set(result, "message", al_json_string(outcome.text.buf));
    if (outcome.conflicted)
        al_result_set(result, "conflicts", al_workflow_strings(&outcome.conflicts));
    else
        al_result_set(result, "fastForward", al_json_bool(outcome.fast_forward));
    result->truncated = outcome.truncated;
    /* After a conflict the commit that concludes the merge says it. */
    if (!outcome.conflicted && !outcome.up_to_date)
        al_workflow_skipped(call, al_merge_hooks(&outcome), !outcome.fast_forward, result);
    return 0;
}

static int abort_operation(struct al_call *call, struct al_result *result, struct al_error *err)
{
    enum al_operation_state aborted = AL_IN_PROGRESS_NONE;
    al_auto(al_freep) char *message = NULL;
    int r = al_git_abort(al_call_repo(call), &aborted, err);

    if (r < 0)
        return r;
    message = al_asprintf("Aborted the %s in progress.", al_operation_state_noun(aborted));
    al_result_set(result, "success", al_json_bool(true));
    al_result_set(result, "message", al_json_string(message));
    return 0;
}

static const struct al_operation workflow_operations[] = {
    { "abort", aborts, MERGES | AL_DISCARDS_WORK, abort_operation, AL_ASKS_ALWAYS },
    { "merge", NULL, MERGES, workflow_merge, AL_ASKS_ALWAYS, AL_MOVES_BRANCH },
};

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "success": true, "message": "", "conflicts?": [""], "fastForward?": true
});
/* clang-format on */

const struct al_tool al_tool_workflow_merge = {
    SHARED,
    .about = "Merge a branch into the current one, or abort what is in progress.",
    AL_TOOL_ROWS(workflow_params, workflow_operations),
    AL_WORKFLOW_TOOL(struct merge_args),
    .check = workflow_check,
    .authorize = authorize,
    .affected_files = affected_files,
    .keeps_staged = true,
    .summary = "[abort?Abort what is in progress and go back (WARNING: destructive)]"
               "[!abort?Merge {branch} into the current branch[noFf? with a merge commit]"
               "[message?: {message}]]",
    .output_schema = output_schema,
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_STRING(struct merge_args, branch, NULL, .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME,
              .min_bytes = 1),
    AL_BOOL(struct merge_args, squash, "One change without a merge; committed with message."),
    AL_BOOL(struct merge_args, no_ff, NULL),
    AL_STRING(struct merge_args, message, NULL, .min_bytes = 1),
    AL_WORKING_DIR_ROW(struct merge_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    const struct merge_args *args = p;

    if (args->squash && args->no_ff)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "squash and no_ff cannot both hold: give squash for one new commit, or "
                            "no_ff for a merge commit");
    return al_arg_check_revision("branch", args->branch, err);
}

static int everyday_authorize(struct al_call *call, struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);
    al_auto(al_freep) char *head = al_ref_head(&al_call_repo(call)->at);
    int r = al_everyday_check_idle(call, err);

    if (r == 0 && args->squash && !*head)
        r = al_failure_set(err, "Merge without squash: the branch then begins there.",
                           "There is no commit yet");
    return r < 0 ? r : authorize(call, err);
}

static int squashed_answer(struct al_call *call, const struct merge_args *args,
                           const struct al_merge_outcome *outcome, struct al_result *result,
                           struct al_error *err)
{
    if (outcome->up_to_date) {
        al_str_adds(&result->text, "Nothing to merge: its changes are here already.\n");
        return 0;
    }
    al_place_addf(&result->text, "%s %s%s\n", outcome->conflicted ? "Squashing" : "Squashed",
                  args->branch,
                  outcome->conflicted
                      ? " stopped at a conflict; once it is resolved, git_commit makes the commit."
                  : args->message ? "."
                                  : ": staged; git_commit makes the commit.");
    return outcome->conflicted ? al_outcome_stopped(call, result, err) : 0;
}

static int everyday_merge(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct merge_args *args = al_call_args(call);
    const struct al_merge_options options = options_of(call, args);
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    int r =
        al_merge_guard_run(al_call_repo(call), &options, al_call_max_bytes(call), &outcome, err);

    if (r < 0)
        return r;
    return args->squash ? squashed_answer(call, args, &outcome, result, err)
                        : al_merged_answer(call, args->branch, &outcome, result, err);
}

const struct al_tool al_tool_everyday_merge = {
    SHARED,
    .about = "Merge a branch into the current one; conflicts are a result.",
    AL_TOOL_ONE(everyday_params, "merge", NULL, MERGES, everyday_merge, AL_ASKS_UNLESS_SAVED),
    AL_EVERYDAY_TOOL(struct merge_args),
    .check = everyday_check,
    .authorize = everyday_authorize,
    .moves = AL_MOVES_BRANCH,
    .summary = "[squash?Squash][!squash?Merge] {branch} into the current branch"
               "[no_ff? with a merge commit][message?: {^message}]",
};
