// SPDX-License-Identifier: Apache-2.0
/* git_pull: fetch a branch, then merge it or rebase on it. */
#include <stdlib.h>

#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/replay/merge_guard.h"
#include "gitops/replay/work.h"
#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "gitops/sequencer/merge.h"
#include "gitops/sequencer/operation_state.h"
#include "gitops/transport/fetch.h"
#include "guard/text.h"
#include "tool/resolved.h"
#include "toolsets/transfer.h"
#include "toolsets/workflow/results.h"
#include "toolsets/workflow/workflow.h"

struct pull_args {
    const char *remote, *branch;
    bool rebase;
    AL_WORKFLOW_FIELDS;
};

static const struct al_param params[] = {
    AL_TRANSFER_ROW_REMOTE(struct pull_args),
    AL_STRING(struct pull_args, branch, "Default: the one followed, else of the same name.",
              .flags = AL_PARAM_NAME, .max_bytes = AL_WORKFLOW_REF_MAX_BYTES),
    AL_BOOL(struct pull_args, rebase, "Rebase instead of merge.", .default_int = 0),
    AL_WORKFLOW_CWD_ROW(struct pull_args),
};

/* The parts of a pull. */
struct pull {
    struct al_remote remote;
    char *current;      /* the local branch; NULL: HEAD is detached */
    char *branch;       /* the branch at the remote */
    char *old_head;     /* the commit of HEAD before; "" on an unborn branch */
    const char *commit; /* the revision to merge or rebase on; borrowed */
    char *tracking;     /* the remote-tracking reference; NULL: none */
};

static void pull_clear(struct pull *pull)
{
    al_remote_clear(&pull->remote);
    free(pull->current);
    free(pull->branch);
    free(pull->old_head);
    free(pull->tracking);
}

static int check(const void *p, struct al_error *err)
{
    const struct pull_args *args = p;

    return al_transfer_check(args->remote, args->branch, err);
}

/* The branch at the remote: the one given, else the upstream, else the one of the same name. */
static int find_branch(struct al_call *call, const struct pull_args *args, struct pull *pull,
                       struct al_error *err)
{
    int r = al_transfer_current_branch(call, &pull->current, args->branch ? NULL : err);

    if (args->branch) {
        pull->branch = al_strdup(args->branch);
        return 0;
    }
    if (r < 0)
        return r;
    pull->branch = al_remote_upstream(al_call_repo(call), &pull->remote, pull->current);
    if (!pull->branch)
        pull->branch = al_strdup(pull->current);
    return 0;
}

static int prepare(struct al_call *call, const struct pull_args *args, struct pull *pull,
                   struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    int r = al_git_check_no_operation(repo, al_call_budget(call), err);

    if (r == 0)
        r = al_remote_find(repo, args->remote, &pull->remote, err);
    if (r == 0)
        r = find_branch(call, args, pull, err);
    if (r < 0)
        return r;
    pull->old_head = al_ref_head(&repo->at);
    pull->tracking = al_remote_tracking(&pull->remote, pull->branch);
    pull->commit = pull->tracking ? pull->tracking : "FETCH_HEAD";
    return 0;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct pull_args *args = p;
    al_auto(pull_clear) struct pull pull = { .remote = AL_REMOTE_INIT };
    int r = prepare(call, args, &pull, err);

    return r == 0 ? al_transfer_authorize(call, args->remote, err) : r;
}

static int rebase(struct al_call *call, const struct pull *pull, struct al_merge_outcome *outcome,
                  struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    struct al_run_limits *budget = al_call_budget(call);
    struct al_replay_work *work = al_replay_work_new();
    al_auto(al_rebase_list_clear) struct al_rebase_list list = { .merges = 0 };
    al_auto(al_freep) char *theirs = NULL;
    int r = al_replay_check_clean(repo, true, budget, err);

    if (r == 0)
        r = al_git_resolve_commit(repo, pull->commit, budget, &theirs, err);
    if (r == 0)
        r = al_replay_work_rebase(repo, work, theirs, pull->commit, budget, &list, err);
    if (r == 0)
        r = al_replay_work_do(repo, work, al_call_max_bytes(call), budget, outcome, err);
    if (r == 0)
        outcome->fast_forward = !outcome->up_to_date && !work->nsteps;
    al_replay_work_free(work);
    return r;
}

static int merge_or_rebase(struct al_call *call, const struct pull_args *args,
                           const struct pull *pull, struct al_merge_outcome *outcome,
                           struct al_error *err)
{
    al_auto(al_freep) char *message =
        al_transfer_merge_message(&pull->remote, pull->branch, pull->current);
    const struct al_merge_options options = { .commit = pull->commit, .message = message };
    struct al_repo *repo = al_call_repo(call);

    if (args->rebase && *pull->old_head)
        return rebase(call, pull, outcome, err);
    return al_merge_guard_run(repo, &options, al_call_max_bytes(call), al_call_budget(call),
                              outcome, err);
}

static void add_message(const struct pull_args *args, const struct pull *pull,
                        const struct al_merge_outcome *outcome, struct al_str *text)
{
    const char *how = args->rebase ? "rebased" : "merged";

    if (outcome->conflicted)
        al_str_addf(text,
                    "%s/%s conflicts with this branch in %zu file%s: resolve them, then git_commit "
                    "goes on, or git_merge with abort: true gives up",
                    args->remote, pull->branch, outcome->conflicts.count,
                    outcome->conflicts.count == 1 ? "" : "s");
    else if (outcome->up_to_date)
        al_str_addf(text, "Already up to date with %s/%s", args->remote, pull->branch);
    else if (outcome->fast_forward)
        al_str_addf(text, "Moved on to %s/%s", args->remote, pull->branch);
    else
        al_str_addf(text, "Pulled %s/%s and %s", args->remote, pull->branch, how);
}

/* Note the hooks and the signature that were skipped. */
static void note_skipped(struct al_call *call, const struct pull_args *args,
                         const struct al_merge_outcome *outcome, struct al_result *result)
{
    static const char *const merged[] = { "pre-merge-commit", "prepare-commit-msg", "commit-msg",
                                          "post-merge", NULL };
    static const char *const rebased[] = { "pre-rebase", "post-checkout", "post-rewrite", NULL };
    static const char *const moved[] = { "post-merge", NULL };

    if (outcome->conflicted || outcome->up_to_date)
        return;
    if (args->rebase)
        al_workflow_skipped_hooks(call, rebased, result);
    else
        al_workflow_skipped_hooks(call, outcome->fast_forward ? moved : merged, result);
    if (!outcome->fast_forward)
        al_workflow_skipped_signature(call, result);
}

static int set_result(struct al_call *call, const struct pull_args *args, const struct pull *pull,
                      const struct al_merge_outcome *outcome, struct al_result *result,
                      struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    json_t *object;
    uint64_t updated = 0;
    int r = outcome->conflicted ? 0
                                : al_git_count_updated(al_call_repo(call), pull->old_head,
                                                       al_call_budget(call), &updated, err);

    if (r < 0)
        return r;
    add_message(args, pull, outcome, &text);
    object = al_transfer_result(!outcome->conflicted, args->remote, text.buf);
    if (args->rebase)
        al_json_set(object, "rebased", al_json_bool(!outcome->conflicted));
    if (outcome->conflicted)
        al_json_set(object, "conflicts", al_workflow_strings(&outcome->conflicts));
    else
        al_json_set(object, "filesUpdated", al_json_int((int64_t)updated));
    al_result_set_structured(result, object);
    note_skipped(call, args, outcome, result);
    return 0;
}

static int fetch(struct al_call *call, const void *p, struct al_error *err)
{
    const struct pull_args *args = p;
    al_auto(pull_clear) struct pull pull = { .remote = AL_REMOTE_INIT };
    al_auto(al_str_clear) struct al_str fetched = AL_STR_INIT;
    struct al_fetch_options options = { .prune = false };
    int r = prepare(call, args, &pull, err);

    if (r < 0)
        return r;
    al_transfer_accept(call, &pull.remote, AL_FETCHES);
    options.branch = pull.branch;
    return al_transfer_fetch(call, &pull.remote, &options, &fetched, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct pull_args *args = p;
    al_auto(pull_clear) struct pull pull = { .remote = AL_REMOTE_INIT };
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    int r = prepare(call, args, &pull, err);

    if (r == 0)
        r = merge_or_rebase(call, args, &pull, &outcome, err);
    return r < 0 ? r : set_result(call, args, &pull, &outcome, result, err);
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    (void)err;
    al_transfer_resolve(call, ((const struct pull_args *)p)->remote, out);
    return 0;
}

static bool is_new_address(struct al_call *call, const void *p)
{
    return al_transfer_is_new(call, ((const struct pull_args *)p)->remote, AL_FETCHES);
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct pull_args *args = p;
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    int r = al_remote_find(al_call_repo(call), args->remote, &remote, err);

    (void)op;
    al_git_show_unsigned(al_call_repo(call), out);
    if (r == 0)
        al_transfer_preview(call, &remote, AL_FETCHES, out);
    return r;
}

#define EFFECTS                                                                                    \
    (AL_USES_NETWORK | AL_WRITES_REFS | AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_REWRITES_HISTORY)

static const struct al_operation operations[] = {
    { "pull", NULL, EFFECTS, execute, AL_ASKS_NEVER },
};

static const struct al_stricter stricter[] = {
    { { "pull", NULL, EFFECTS | AL_LEAVES_MACHINE, execute, AL_ASKS_ALWAYS },
      is_new_address,
      AL_TRANSFER_CONDITION },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct pull_args *args = p;

    (void)op;
    al_str_addf(out, "Pull%s%s from %s%s", args->branch ? " " : "",
                args->branch ? args->branch : "", args->remote,
                args->rebase ? " and rebase on it" : "");
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "remote": {"type": "string"},
        "message": {"type": "string"},
        "rebased": {"type": "boolean"},
        "filesUpdated": {"type": "integer"},
        "conflicts": {"type": "array", "items": {"type": "string"}}
    },
    "required": ["success", "remote", "message"]
});
/* clang-format on */

const struct al_tool al_tool_workflow_pull = {
    .name = "git_pull",
    .title = "Pull",
    .about = "Fetch a branch and merge it, or rebase on it. Conflicts are a result.",
    AL_TOOL_ROWS(params, operations),
    AL_WORKFLOW_TOOL(struct pull_args),
    AL_TOOL_STRICTER(stricter),
    .moves_branch = true,
    .check = check,
    .resolve = resolve,
    .always_by = al_transfer_always_by,
    .authorize = authorize,
    .preview = preview,
    .fetch = fetch,
    .moves_always = AL_MOVES_BRANCH | AL_MOVES_HEAD, /* a rebase that stops detaches HEAD */
    .summarize = summarize,
    .output_schema = output_schema,
};
