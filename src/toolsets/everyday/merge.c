// SPDX-License-Identifier: Apache-2.0
/* git_merge: merge a branch into the current one; conflicts are a result. */
#include "gitops/sequencer/merge.h"

#include <stdlib.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/inmemory/inmemory.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/replay/advance.h"
#include "gitops/replay/merge_guard.h"
#include "gitops/replay/squash.h"
#include "gitops/repo/repo.h"
#include "gitops/sequencer/overwrite.h"
#include "guard/arg.h"
#include "tool/resolved.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/outcome.h"
#include "toolsets/everyday/replay.h"

struct merge_args {
    const char *branch, *message;
    bool squash, no_ff;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct merge_args, branch, "What to merge.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME | AL_PARAM_NO_DESCRIPTION, .min_bytes = 1,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_BOOL(struct merge_args, squash, "One change without a merge; committed with message.",
            .default_int = 0),
    AL_BOOL(struct merge_args, no_ff, "Always a merge commit.", .default_int = 0,
            .flags = AL_PARAM_NO_DESCRIPTION),
    AL_STRING(struct merge_args, message, "Message.", .flags = AL_PARAM_NO_DESCRIPTION,
              .min_bytes = 1, .max_bytes = AL_EVERYDAY_TEXT_MAX_BYTES),
    AL_EVERYDAY_WORKING_DIR_ROW(struct merge_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct merge_args *args = p;

    if (args->squash && args->no_ff)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "squash and no_ff cannot both hold: a squash makes no merge commit");
    return al_arg_check_revision("branch", args->branch, err);
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct merge_args *args = p;
    al_auto(al_freep) char *oid = NULL;
    int r =
        al_git_resolve_commit(al_call_repo(call), args->branch, al_call_budget(call), &oid, err);

    if (r == 0)
        al_resolved_add(out, AL_RESOLVED_COMMIT, oid);
    return r;
}

static struct al_merge_options options_of(const struct al_call *call, const struct merge_args *args)
{
    return (struct al_merge_options){
        .commit = args->branch,
        .oid = al_call_resolved(call, AL_RESOLVED_COMMIT),
        .message = args->message,
        .no_ff = args->no_ff,
        .files = al_call_changed_files(call),
    };
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct merge_args *args = p;
    const struct al_merge_options options = options_of(call, args);
    al_auto(al_freep) char *head = al_ref_head(&al_call_repo(call)->at);
    int r = al_everyday_check_idle(call, err);

    if (r == 0 && args->squash && !*head)
        r = al_failure_set(err, "Merge without squash: the branch then begins there.",
                           "There is no commit yet");
    if (r == 0 && *head)
        r = al_replay_check_clean(al_call_repo(call), false, al_call_budget(call), err);
    return r < 0 ? r : al_git_merge_check(al_call_repo(call), &options, al_call_budget(call), err);
}

static int changed_files(struct al_call *call, const void *p, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);

    (void)p;
    *ret_known = commit;
    return commit ? al_merge_guard_files(al_call_repo(call), commit, al_call_budget(call),
                                         ret_known, out, err)
                  : 0;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct al_merge_options options = options_of(call, p);
    bool any = false;
    int r =
        al_git_merge_preview(al_call_repo(call), &options, al_call_budget(call), out, &any, err);

    (void)op;
    if (r == 0 && !any)
        al_call_skip_approval(call);
    return r;
}

/* Squash what merges without conflicts: one commit in memory, whose tree or whose whole is taken.
 */
static int squash_merged(struct al_call *call, const struct merge_args *args,
                         struct al_inmemory *memory, const char *head, const char *tree,
                         struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_freep) char *oid = NULL;
    al_auto(al_freep) char *reflog = al_asprintf("merge %s: squash", args->branch);
    al_auto(al_freep) char *message =
        al_asprintf("%s%s", args->message ? args->message : "squash",
                    args->message && al_ends_with(args->message, "\n") ? "" : "\n");
    const struct al_new_commit commit = { .tree = tree, .parents = &parents, .message = message };
    int r;

    al_strv_add(&parents, head);
    r = al_inmemory_commit(memory, &commit, al_call_budget(call), &oid, err);
    if (r == 0)
        r = al_inmemory_accept(memory, oid, al_call_budget(call), err);
    if (r < 0)
        return r;
    return al_git_advance(
        al_call_repo(call),
        &(struct al_advance){
            .from = head, .to = oid, .reflog = reflog, .keeps_head = !args->message },
        al_call_budget(call), err);
}

/* Squash what does not merge without conflicts: git itself leaves them. */
static int squash_conflicted(struct al_call *call, struct al_inmemory *memory, const char *head,
                             const char *tree, struct al_error *err)
{
    int r = al_overwrite_check(al_inmemory_repo(memory), head, tree, al_call_budget(call), err);

    return r < 0 ? r
                 : al_git_squash_really(al_call_repo(call),
                                        al_call_resolved(call, AL_RESOLVED_COMMIT),
                                        al_call_max_bytes(call), al_call_budget(call), err);
}

static void say_squashed(const struct merge_args *args, bool conflicted, struct al_str *text)
{
    al_str_adds(text, conflicted ? "Squashing " : "Squashed ");
    al_place_add_name(args->branch, text);
    if (conflicted)
        al_str_adds(text, " stopped at a conflict; once it is resolved, git_commit makes the "
                          "commit.\n");
    else
        al_str_adds(text, args->message ? ".\n" : ": staged; git_commit makes the commit.\n");
}

static int squash(struct al_call *call, const struct merge_args *args, struct al_result *result,
                  struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    const char *theirs = al_call_resolved(call, AL_RESOLVED_COMMIT);
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *tree = NULL;
    struct al_inmemory *memory = NULL;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    bool conflicted = false;
    int r = al_inmemory_open(repo, &memory, err);

    if (r == 0)
        r = al_inmemory_merge(memory, head, theirs, al_call_budget(call), &merged, err);
    if (r == 0)
        r = al_inmemory_tree(memory, head, al_call_budget(call), &tree, err);
    conflicted = r == 0 && merged.conflicted;
    if (r == 0 && !conflicted && !strcmp(tree, merged.tree))
        al_str_adds(&text, "Nothing to merge: its changes are here already.\n");
    else if (r == 0 && conflicted)
        r = squash_conflicted(call, memory, head, merged.tree, err);
    else if (r == 0)
        r = squash_merged(call, args, memory, head, merged.tree, err);
    al_inmemory_free(memory);
    if (r < 0)
        return r;
    if (!text.len)
        say_squashed(args, conflicted, &text);
    if (conflicted)
        return al_outcome_stopped(call, &text, result, err);
    al_answer_done(call, &text, result);
    return 0;
}

static int merge(struct al_call *call, const void *p, struct al_result *result,
                 struct al_error *err)
{
    const struct merge_args *args = p;
    const struct al_merge_options options = options_of(call, args);
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    int r;

    if (args->squash)
        return squash(call, args, result, err);
    r = al_merge_guard_run(al_call_repo(call), &options, al_call_max_bytes(call),
                           al_call_budget(call), &outcome, err);
    return r < 0 ? r : al_merged_answer(call, args->branch, &outcome, NULL, result, err);
}

static const struct al_operation operations[] = {
    { "merge", NULL, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, merge,
      AL_ASKS_UNLESS_SAVED },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct merge_args *args = p;

    (void)op;
    al_str_addf(out, "%s %s into the current branch", args->squash ? "Squash" : "Merge",
                args->branch);
    if (args->no_ff)
        al_str_adds(out, " with a merge commit");
    if (args->message)
        al_str_addf(out, ": %.*s", (int)strcspn(args->message, "\n"), args->message);
}

const struct al_tool al_tool_everyday_merge = {
    .name = "git_merge",
    .title = "Merge",
    .about = "Merge a branch into the current one; conflicts are a result.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct merge_args),
    .moves_branch = true,
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .changed_files = changed_files,
    .preview = preview,
    .moves_always = AL_MOVES_BRANCH,
    .summarize = summarize,
};
