// SPDX-License-Identifier: Apache-2.0
/* git_cherry_pick and git_revert: apply the changes of commits, or take them back. */
#include <stdlib.h>

#include "answer/answer.h"
#include "gitops/refs.h"
#include "gitops/replay/work.h"
#include "gitops/repo/repo.h"
#include "guard/arg.h"
#include "tool/resolved.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/outcome.h"
#include "toolsets/everyday/replay.h"

#define COMMITS_MAX  1000
#define MAINLINE_MAX 16

/* git_cherry_pick has no `mainline`, which is then absent. */
struct pick_args {
    struct al_strv commits;
    bool no_commit;
    struct al_opt_int mainline;
    AL_EVERYDAY_FIELDS;
};

#define COMMITS_ROW                                                                                \
    AL_STRINGS(struct pick_args, commits, "Revisions, or ranges A..B.",                            \
               .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .min = 1, .max = COMMITS_MAX,           \
               .min_bytes = 1)
#define NO_COMMIT_ROW AL_BOOL(struct pick_args, no_commit, "Only stage the changes.")

static const struct al_param pick_params[] = {
    COMMITS_ROW,
    NO_COMMIT_ROW,
    AL_EVERYDAY_WORKING_DIR_ROW(struct pick_args),
};

static const struct al_param revert_params[] = {
    COMMITS_ROW,
    NO_COMMIT_ROW,
    AL_INT(struct pick_args, mainline, "Of a merge: the parent to go back to.", .min = 1,
           .max = MAINLINE_MAX),
    AL_EVERYDAY_WORKING_DIR_ROW(struct pick_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct pick_args *args = p;
    bool is_range;
    int r = 0;

    for (size_t i = 0; r == 0 && i < args->commits.count; i++)
        r = al_arg_check_range("commits", args->commits.items[i], &is_range, err);
    return r;
}

static bool is_revert(const struct al_call *call)
{
    return al_call_tool(call) == &al_tool_everyday_revert;
}

static int list(struct al_call *call, const struct pick_args *args, struct al_strv *out,
                struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < args->commits.count; i++)
        r = al_commit_list_add(al_call_repo(call), args->commits.items[i], is_revert(call),
                               al_call_budget(call), out, err);
    if (r == 0 && !out->count)
        r = al_failure_set(err, "git_log with the range shows what is in it.",
                           "The range has no commits");
    return r;
}

/* The words are resolved once: what was approved is what is applied. */
static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    int r = list(call, p, &commits, err);

    for (size_t i = 0; r == 0 && i < commits.count; i++)
        al_resolved_add(out, "commit", commits.items[i]);
    return r;
}

static int check_merges(const struct pick_args *args, bool reverts,
                        const struct al_commits_read *commits, struct al_error *err)
{
    for (size_t i = 0; i < commits->count; i++) {
        const struct al_commit_read *commit = &commits->items[i];
        bool merge = commit->parents.count > 1;

        if (merge && !reverts)
            return al_failure_set(err, "Name the commits that it brought in: a range A..B.",
                                  "%.8s is a merge, which cannot be picked", commit->oid);
        if (merge && !args->mainline.given)
            return al_failure_set(err,
                                  "Say with mainline: 1 which parent to go back to; 1 is the "
                                  "branch that was merged into.",
                                  "%.8s is a merge", commit->oid);
        if (merge && (uint64_t)args->mainline.value > commit->parents.count)
            return al_failure_set(err, "mainline counts the parents from 1.",
                                  "%.8s has %zu parents", commit->oid, commit->parents.count);
        if (!merge && args->mainline.given)
            return al_failure_set(err, "mainline is for merges only: leave it out.",
                                  "%.8s is no merge", commit->oid);
    }
    return 0;
}

static int build(struct al_call *call, const void *p, struct al_replay_work *work,
                 struct al_str *lines, struct al_error *err)
{
    const struct pick_args *args = p;
    bool reverts = is_revert(call);
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    al_auto(al_commits_read_clear) struct al_commits_read read = { .items = NULL };
    int r = list(call, args, &commits, err);

    (void)lines;
    if (r == 0)
        r = al_inmemory_open(al_call_repo(call), &work->memory, err);
    if (r == 0)
        r = al_inmemory_read(work->memory, &commits, al_call_budget(call), &read, err);
    if (r == 0)
        r = check_merges(args, reverts, &read, err);
    if (r < 0)
        return r;
    work->kind = reverts ? AL_WORK_REVERT : AL_WORK_CHERRY_PICK;
    work->no_commit = args->no_commit;
    work->onto = al_ref_head(&al_call_repo(call)->at);
    for (size_t i = 0; i < commits.count; i++)
        al_replay_work_add(work, reverts ? AL_REPLAY_REVERT : AL_REPLAY_PICK, commits.items[i],
                           NULL, args->mainline.given ? (unsigned)args->mainline.value : 0);
    return 0;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    return al_replay_authorize(call, p, build, false, err);
}

static void add_done(struct al_call *call, const struct pick_args *args, struct al_str *text)
{
    const struct al_strv *done = &al_replay_of(call)->work->replayed.commits;
    const char *verb = is_revert(call) ? "Reverted" : "Picked";
    size_t kept = 0;

    for (size_t i = 0; i < done->count; i++)
        kept += *done->items[i] != '\0';
    al_str_addf(text, "%s ", verb);
    al_answer_add_counted(kept, "commit", "commits", text);
    if (args->no_commit)
        al_str_adds(text, ", staged and not committed");
    if (kept < done->count)
        al_str_addf(text, "; %zu changed nothing here and %s left out", done->count - kept,
                    done->count - kept == 1 ? "was" : "were");
    al_str_adds(text, kept && !args->no_commit ? ":\n" : "\n");
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    static const char *const hooks[] = { "pre-commit", "prepare-commit-msg", "commit-msg",
                                         "post-commit", NULL };
    const struct pick_args *args = p;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    int r = al_replay_execute(call, &outcome, err);

    if (r < 0)
        return r;
    if (outcome.conflicted) {
        al_str_addf(&result->text, "The %s stopped at a conflict.\n",
                    is_revert(call) ? "revert" : "cherry-pick");
        return al_outcome_stopped(call, result, err);
    }
    add_done(call, args, &result->text);
    if (!args->no_commit && !outcome.up_to_date) {
        r = al_replay_add_commits(call, &result->text, err);
        al_outcome_add_skipped(call, hooks, true, &result->text);
    }
    return r;
}

#define WRITES (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS)

static const struct al_operation pick_operations[] = {
    { "cherry_pick", NULL, WRITES, execute, AL_ASKS_UNLESS_SAVED },
};

static const struct al_operation revert_operations[] = {
    { "revert", NULL, WRITES, execute, AL_ASKS_UNLESS_SAVED },
};

static void summarize(const char *verb, const struct pick_args *args, struct al_str *out)
{
    al_str_adds(out, verb);
    for (size_t i = 0; i < args->commits.count; i++)
        al_str_addf(out, "%s %s", i ? "," : "", args->commits.items[i]);
    if (args->no_commit)
        al_str_adds(out, ", without a commit");
}

static void summarize_pick(const void *args, struct al_str *out)
{
    summarize("Cherry-pick", args, out);
}

static void summarize_revert(const void *args, struct al_str *out)
{
    summarize("Revert", args, out);
}

/* What both tools have. */
#define SHARED                                                                                     \
    AL_EVERYDAY_TOOL(struct pick_args), .moves_branch = true, .check = check, .resolve = resolve,  \
                                        .authorize = authorize, .preview = al_replay_preview,      \
                                        .changed_files = al_replay_changed_files,                  \
                                        .moves_always = AL_MOVES_BRANCH

const struct al_tool al_tool_everyday_cherry_pick = {
    SHARED,
    .name = "git_cherry_pick",
    .title = "Cherry-pick",
    .about = "Apply the changes of commits to the current branch.",
    AL_TOOL_ROWS(pick_params, pick_operations),
    .summarize = summarize_pick,
};

const struct al_tool al_tool_everyday_revert = {
    SHARED,
    .name = "git_revert",
    .title = "Revert",
    .about = "Make commits that take the changes of other commits back.",
    AL_TOOL_ROWS(revert_params, revert_operations),
    .summarize = summarize_revert,
};
