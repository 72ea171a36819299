// SPDX-License-Identifier: Apache-2.0
/* git_rebase: replay the commits of the current branch elsewhere, or as a plan says. */
#include <stdlib.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/replay/commit_list.h"
#include "gitops/repo/repo.h"
#include "guard/arg.h"
#include "tool/resolved.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/outcome.h"
#include "toolsets/everyday/rebase_plan.h"
#include "toolsets/everyday/replay.h"

#define PLAN_MAX 1000

struct rebase_args {
    const char *onto;
    struct al_objects plan;
    bool autosquash;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct rebase_args, onto,
              "Default: the upstream; with plan, below its oldest commit.", .flags = AL_PARAM_NAME,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_OBJECTS(struct rebase_args, plan, "Every commit, oldest first, as it is to be.",
               al_rebase_plan_row, .min = 1, .max = PLAN_MAX),
    AL_BOOL(struct rebase_args, autosquash, "Move fixup! and squash! commits.", .default_int = 0,
            .flags = AL_PARAM_NO_DESCRIPTION),
    AL_EVERYDAY_WORKING_DIR_ROW(struct rebase_args),
};

static int check(const void *p, struct al_error *err)
{
    const struct rebase_args *args = p;

    if (args->plan.count && args->autosquash)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "plan and autosquash cannot both hold: a plan has an order of its own");
    if (args->onto) {
        int r = al_arg_check_revision("onto", args->onto, err);

        if (r < 0)
            return r;
    }
    return al_rebase_plan_check(&args->plan, err);
}

/* The upstream of the current branch. */
static int find_upstream(struct al_call *call, char **ret_onto, struct al_error *err)
{
    int r = al_git_find_object(al_call_repo(call), "@{upstream}", "commit", al_call_budget(call),
                               ret_onto, err);

    if (r == 0 && !*ret_onto)
        r = al_failure_bad_args(err, "Give onto: a branch or a revision, such as origin/main.",
                                "The branch has no upstream to rebase onto");
    return r;
}

static int find_onto(struct al_call *call, const struct rebase_args *args,
                     const struct al_strv *planned, char **ret_onto, struct al_error *err)
{
    if (args->onto)
        return al_git_resolve_commit(al_call_repo(call), args->onto, al_call_budget(call), ret_onto,
                                     err);
    return args->plan.count ? al_rebase_plan_base(call, planned, ret_onto, err)
                            : find_upstream(call, ret_onto, err);
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct rebase_args *args = p;
    al_auto(al_strv_clear) struct al_strv planned = AL_STRV_INIT;
    al_auto(al_freep) char *onto = NULL;
    int r = al_rebase_plan_resolve(call, &args->plan, &planned, err);

    if (r == 0)
        r = find_onto(call, args, &planned, &onto, err);
    if (r < 0)
        return r;
    al_resolved_add(out, "onto", onto ? onto : "root");
    for (size_t i = 0; i < planned.count; i++)
        al_resolved_add(out, "planned", planned.items[i]);
    return 0;
}

static void add_left_out(const struct al_rebase_list *list, struct al_str *lines)
{
    if (list->known) {
        al_answer_add_counted(list->known, "commit", "commits", lines);
        al_str_adds(lines, " left out: their change is there already\n");
    }
    if (list->merges) {
        al_answer_add_counted(list->merges, "merge", "merges", lines);
        al_str_adds(lines, " left out: a rebase makes the history linear\n");
    }
}

static int add_steps(struct al_call *call, const struct rebase_args *args,
                     const struct al_strv *planned, const struct al_rebase_list *list,
                     struct al_replay_work *work, struct al_error *err)
{
    al_auto(al_rebase_list_clear) struct al_rebase_list all = { .merges = 0 };
    int r;

    if (args->autosquash)
        return al_rebase_autosquash(call, &list->commits, work, err);
    if (!args->plan.count) {
        for (size_t i = 0; i < list->commits.count; i++)
            al_replay_work_add(work, AL_REPLAY_PICK, list->commits.items[i], NULL, 0);
        return 0;
    }
    r = al_commit_list_rebase(al_call_repo(call), work->onto, true, al_call_budget(call), &all,
                              err);
    return r < 0
               ? r
               : al_rebase_plan_add(&args->plan, planned, &list->commits, &all.commits, work, err);
}

static int build(struct al_call *call, const void *p, struct al_replay_work *work,
                 struct al_str *lines, struct al_error *err)
{
    const struct rebase_args *args = p;
    al_auto(al_rebase_list_clear) struct al_rebase_list list = { .merges = 0 };
    al_auto(al_strv_clear) struct al_strv planned = AL_STRV_INIT;
    int r = al_rebase_plan_resolve(call, &args->plan, &planned, err);

    work->kind = AL_WORK_REBASE;
    if (r == 0)
        r = find_onto(call, args, &planned, &work->onto, err);
    work->is_root = r == 0 && !work->onto;
    if (r == 0)
        r = al_commit_list_rebase(al_call_repo(call), work->onto, false, al_call_budget(call),
                                  &list, err);
    if (r < 0)
        return r;
    work->onto_name = args->onto ? al_strdup(args->onto) : NULL;
    add_left_out(&list, lines);
    return add_steps(call, args, &planned, &list, work, err);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    return al_replay_authorize(call, p, build, true, err);
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    (void)op;
    (void)p;
    return al_replay_preview(call, out, err);
}

static void add_done(struct al_call *call, const struct rebase_args *args,
                     const struct al_merge_outcome *outcome, struct al_str *text)
{
    const struct al_replay_try *try = al_replay_of(call);
    const struct al_replay_work *work = try->work;
    size_t dropped = 0;

    if (outcome->up_to_date) {
        al_str_adds(text, "Nothing to do: the commits are there already, as they are to be.\n");
        return;
    }
    for (size_t i = 0; i < work->replayed.commits.count; i++)
        dropped += !*work->replayed.commits.items[i];
    al_str_adds(text, work->is_root ? "Rebased from the first commit on" : "Rebased onto ");
    if (args->onto)
        al_place_add_name(args->onto, text);
    else if (!work->is_root)
        al_str_addf(text, "%.8s", work->onto);
    al_str_adds(text, ", ");
    al_answer_add_counted(work->nsteps, "commit", "commits", text);
    al_str_adds(text, " replayed");
    if (dropped)
        al_str_addf(text, ", %zu of them dropped as empty", dropped);
    al_str_adds(text, "; newest first:\n");
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    static const char *const hooks[] = { "pre-rebase", "post-checkout", "post-rewrite", NULL };
    const struct rebase_args *args = p;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_replay_execute(call, &outcome, err);

    if (r < 0)
        return r;
    if (outcome.conflicted || outcome.in_progress) {
        al_str_adds(&text, "The rebase stopped at a conflict.\n");
        al_str_adds(&text, al_replay_of(call)->lines.buf);
        return al_outcome_stopped(call, &text, result, err);
    }
    add_done(call, args, &outcome, &text);
    if (!outcome.up_to_date) {
        r = al_replay_add_commits(call, &text, err);
        al_str_adds(&text, al_replay_of(call)->lines.buf);
        al_outcome_add_skipped(call, hooks, true, &text);
    }
    if (r == 0)
        al_answer_done(call, &text, result);
    return r;
}

#define EFFECTS (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_REWRITES_HISTORY)

static const struct al_operation operations[] = {
    { "rebase", NULL, EFFECTS, execute, AL_ASKS_UNLESS_SAVED },
};

static const struct al_stricter stricter[] = {
    { { "rebase", NULL, EFFECTS, execute, AL_ASKS_ALWAYS },
      al_replay_is_published,
      AL_REPLAY_CONDITION },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct rebase_args *args = p;

    (void)op;
    al_str_adds(out, "Rebase the current branch");
    if (args->onto)
        al_str_addf(out, " onto %s", args->onto);
    if (args->plan.count)
        al_str_addf(out, " by a plan of %zu step%s", args->plan.count,
                    args->plan.count == 1 ? "" : "s");
    if (args->autosquash)
        al_str_adds(out, " with autosquash");
}

const struct al_tool al_tool_everyday_rebase = {
    .name = "git_rebase",
    .title = "Rebase",
    .about = "Replay the branch's commits on another, or reorder, squash, reword and drop them by "
             "plan.",
    .params = params,
    .nparams = AL_COUNT(params),
    AL_EVERYDAY_TOOL(struct rebase_args),
    .operations = operations,
    .noperations = AL_COUNT(operations),
    .stricter = stricter,
    .nstricter = AL_COUNT(stricter),
    .moves_branch = true,
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .preview = preview,
    .changed_files = al_replay_changed_files,
    .moves_always = AL_MOVES_HEAD | AL_MOVES_BRANCH, /* one that stops detaches HEAD */
    .summarize = summarize,
};
