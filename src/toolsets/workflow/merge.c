// SPDX-License-Identifier: Apache-2.0
/* git_merge: merge a branch, or abort the operation in progress. */
#include "gitops/sequencer/merge.h"
#include "gitops/plumbing/revision.h"
#include "gitops/replay/merge_guard.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "tool/ignored.h"
#include "tool/resolved.h"
#include "toolsets/workflow/results.h"
#include "toolsets/workflow/workflow.h"

struct merge_args {
    const char *branch, *message;
    bool no_ff, abort;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct merge_args, branch, "What to merge; \"\" with abort.",
              .flags =
                  AL_PARAM_REQUIRED | AL_PARAM_MAY_BE_ABSENT | AL_PARAM_EVERY_PATH | AL_PARAM_NAME,
              .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_BOOL_AS(struct merge_args, no_ff, "noFf", "Always make a merge commit.", .default_int = 0),
    AL_BOOL(struct merge_args, abort, "Give up what is in progress.", .default_int = 0),
    AL_STRING(struct merge_args, message, "Message of the merge commit.",
              .flags = AL_PARAM_NO_DESCRIPTION, .max_bytes = AL_WORKFLOW_TEXT_MAX_BYTES),
    AL_WORKFLOW_CWD_ROW(struct merge_args),
};

AL_WHEN(aborts, struct merge_args, args->abort)

static int check(const void *p, struct al_error *err)
{
    const struct merge_args *args = p;

    if (args->abort)
        return 0;
    if (!args->branch)
        return al_error_set(err, AL_ERR_BAD_ARGS, "branch is required");
    return al_arg_check_revision("branch", args->branch, err);
}

/* Resolve the word to a commit, so that the approved commit is merged even if the branch moves. */
static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct merge_args *args = p;
    al_auto(al_freep) char *oid = NULL;
    int r;

    if (args->abort)
        return 0;
    r = al_git_resolve_commit(al_call_repo(call), args->branch, al_call_budget(call), &oid, err);
    if (r == 0)
        al_resolved_add(out, AL_RESOLVED_COMMIT, oid);
    return r;
}

static struct al_merge_options options_of(const struct al_call *call, const struct merge_args *args)
{
    return (struct al_merge_options){
        .commit = args->branch,
        .oid = al_call_resolved(call, AL_RESOLVED_COMMIT),
        .message = args->message && *args->message ? args->message : NULL,
        .no_ff = args->no_ff,
        .files = al_call_changed_files(call),
    };
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct merge_args *args = p;
    const struct al_merge_options options = options_of(call, args);
    struct al_repo *repo = al_call_repo(call);

    if (args->abort)
        return al_git_abort_check(repo, al_call_budget(call), err);
    return al_git_merge_check(repo, &options, al_call_budget(call), err);
}

/* The files whose changes an abort discards. */
static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct merge_args *args = p;

    return args->abort
               ? al_git_abort_affected_files(al_call_repo(call), al_call_budget(call), out, err)
               : 0;
}

static int changed_files(struct al_call *call, const void *p, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct merge_args *args = p;
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);

    *ret_known = !args->abort && commit;
    return *ret_known ? al_merge_guard_files(al_call_repo(call), commit, al_call_budget(call),
                                             ret_known, out, err)
                      : 0;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct merge_args *args = p;
    const struct al_merge_options options = options_of(call, args);
    struct al_repo *repo = al_call_repo(call);
    bool any = false;
    int r;

    (void)op;
    if (args->abort)
        return al_git_abort_preview(repo, al_call_budget(call), out, err);
    r = al_git_merge_preview(repo, &options, al_call_budget(call), out, &any, err);
    if (r == 0 && !any)
        al_call_skip_approval(call);
    return r;
}

/* Note the hooks and the signature that were skipped.  After a conflict the commit that concludes
 * the merge does so. */
static void note_skipped(struct al_call *call, const struct al_merge_outcome *outcome,
                         struct al_result *result)
{
    static const char *const joined[] = { "pre-merge-commit", "prepare-commit-msg", "commit-msg",
                                          "post-merge", NULL };
    static const char *const moved[] = { "post-merge", NULL };

    if (outcome->conflicted || outcome->up_to_date)
        return;
    al_workflow_skipped_hooks(call, outcome->fast_forward ? moved : joined, result);
    if (!outcome->fast_forward)
        al_workflow_skipped_signature(call, result);
}

static int merge(struct al_call *call, const void *p, struct al_result *result,
                 struct al_error *err)
{
    const struct al_merge_options options = options_of(call, p);
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    json_t *object;
    int r = al_merge_guard_run(al_call_repo(call), &options, al_call_max_bytes(call),
                               al_call_budget(call), &outcome, err);

    if (r < 0)
        return r;
    object = al_json_object();
    al_json_set(object, "success", al_json_bool(!outcome.conflicted));
    al_json_set(object, "message", al_json_string(outcome.text.buf));
    if (outcome.conflicted)
        al_json_set(object, "conflicts", al_workflow_strings(&outcome.conflicts));
    else
        al_json_set(object, "fastForward", al_json_bool(outcome.fast_forward));
    al_result_set_structured(result, object);
    result->truncated = outcome.truncated;
    note_skipped(call, &outcome, result);
    return 0;
}

static int abort_operation(struct al_call *call, const void *p, struct al_result *result,
                           struct al_error *err)
{
    enum al_operation_state aborted = AL_IN_PROGRESS_NONE;
    al_auto(al_freep) char *message = NULL;
    json_t *object;
    int r = al_git_abort(al_call_repo(call), al_call_budget(call), &aborted, err);

    (void)p;
    if (r < 0)
        return r;
    message = al_asprintf("Gave up the %s in progress.", al_operation_state_noun(aborted));
    object = al_json_object();
    al_json_set(object, "success", al_json_bool(true));
    al_json_set(object, "message", al_json_string(message));
    al_result_set_structured(result, object);
    return 0;
}

static const struct al_operation operations[] = {
    { "abort", aborts, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_DISCARDS_WORK,
      abort_operation, AL_ASKS_ALWAYS },
    { "merge", NULL, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, merge, AL_ASKS_ALWAYS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct merge_args *args = p;

    (void)op;
    if (args->abort) {
        al_str_adds(out, "Abort what is in progress and go back (WARNING: destructive)");
        return;
    }
    al_str_addf(out, "Merge %s into the current branch", args->branch);
    if (args->no_ff)
        al_str_adds(out, " with a merge commit");
    if (args->message && *args->message)
        al_str_addf(out, ": %s", args->message);
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "message": {"type": "string"},
        "conflicts": {"type": "array", "items": {"type": "string"}},
        "fastForward": {"type": "boolean"}
    },
    "required": ["success", "message"]
});
/* clang-format on */

static void ignored(const void *p, struct al_ignored *out)
{
    const struct merge_args *args = p;

    out->since = "abort is given";
    al_ignored_add(out, args->abort && args->branch && *args->branch, "branch");
    al_ignored_add(out, args->abort && args->no_ff, "noFf");
    al_ignored_add(out, args->abort && args->message, "message");
}

static unsigned moves(const struct al_operation *operation)
{
    return !strcmp(operation->name, "merge") ? AL_MOVES_BRANCH : 0;
}

const struct al_tool al_tool_workflow_merge = {
    .name = "git_merge",
    .title = "Merge",
    .about = "Merge a branch into the current one, or abort what is in progress.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct merge_args),
    .moves_branch = true,
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .affected_files = affected_files,
    .changed_files = changed_files,
    .preview = preview,
    .ignored = ignored,
    .moves = moves,
    .summarize = summarize,
    .output_schema = output_schema,
};
