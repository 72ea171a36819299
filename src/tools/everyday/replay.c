// SPDX-License-Identifier: Apache-2.0
/* git_rebase, git_cherry_pick and git_revert: commits are replayed elsewhere, or as a plan says, or
 * taken back.  The work is tried in memory while the call is authorized, and done when it is
 * executed. */

#include "git/failure.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/replay/along.h"
#include "verbs/replay/series.h"
#include "verbs/replay/work.h"

static bool is_rebase(const struct al_call *call)
{
    return al_call_tool(call) == &al_tool_everyday_rebase;
}

static bool is_revert(const struct al_call *call)
{
    return al_call_tool(call) == &al_tool_everyday_revert;
}

/* Resolved values: the ids that are replayed, or that a plan names, in order; and what a rebase is
 * onto, "" where it begins the history anew. */
#define RESOLVED_COMMITS "commits"
#define RESOLVED_ONTO    "onto"

static void add_resolved(struct al_call *call, const struct al_strv *commits)
{
    al_auto(al_str_clear) struct al_str ids = AL_STR_INIT;

    for (size_t i = 0; i < commits->count; i++)
        al_str_addf(&ids, "%s ", commits->items[i]);
    al_call_resolve(call, RESOLVED_COMMITS, ids.buf);
}

/* The arguments of git_rebase, and the work that follows from them. */

#define MESSAGE_MAX_BYTES 65536
#define NAMED_MAX_BYTES   400

/* Beside those of enum al_replay_kind. */
enum { DO_DROP = AL_REPLAY_REVERT + 1, DO_SPLIT };

/* A part of a commit that is split. */
struct part_arg {
    bool given;
    const char *message;
    struct al_strv hunks, paths;
};

#define PART_HUNKS_MAX 1000
#define PARTS_MAX      100

static const struct al_param part_members[] = {
    AL_STRING(struct part_arg, message, NULL, .flags = AL_PARAM_REQUIRED, .min_bytes = 1,
              .max_bytes = MESSAGE_MAX_BYTES),
    AL_STRINGS(struct part_arg, hunks, NULL, .max = PART_HUNKS_MAX),
    AL_STRINGS(struct part_arg, paths, NULL, .flags = AL_PARAM_PATH),
};

static const struct al_object parts_row = { part_members, AL_COUNT(part_members),
                                            sizeof(struct part_arg) };

struct step_arg {
    bool given;
    const char *commit, *message;
    int action; /* enum al_replay_kind, DO_DROP, DO_SPLIT */
    struct al_objects into;
};

static const struct al_choice actions[] = {
    { "pick", AL_REPLAY_PICK },
    { "reword", AL_REPLAY_REWORD },
    { "squash", AL_REPLAY_SQUASH },
    { "fixup", AL_REPLAY_FIXUP },
    { "drop", DO_DROP },
    { "split", DO_SPLIT },
    { NULL, 0 },
};

static const struct al_param members[] = {
    AL_STRING(struct step_arg, commit, NULL, .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME,
              .min_bytes = 1, .check = al_arg_check_revision),
    AL_CHOICE_AS(struct step_arg, action, "do", NULL, .choices = actions),
    AL_STRING(struct step_arg, message, NULL, .max_bytes = MESSAGE_MAX_BYTES, .min_bytes = 1),
    AL_OBJECTS(struct step_arg, into, "Of split: ids from git_show.", parts_row, .min = 1,
               .max = PARTS_MAX),
};

/* The members of a step, for AL_OBJECTS(). */
static const struct al_object rebase_plan_row = { members, AL_COUNT(members),
                                                  sizeof(struct step_arg) };

static const struct step_arg *at(const struct al_objects *plan, size_t i)
{
    return (const struct step_arg *)plan->items + i;
}

static int check_complete(const struct al_strv *oids, const struct al_rebase_list *list,
                          struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    for (size_t i = 0; i < oids->count; i++)
        if (!al_strv_contains(&list->all, oids->items[i]))
            return al_failure_bad_args(err, "git_log lists the commits that are.",
                                       "plan[%zu]: %.8s is not among the commits to rebase", i,
                                       oids->items[i]);
    for (size_t i = 0; i < list->commits.count; i++)
        if (!al_strv_contains(oids, list->commits.items[i]))
            al_strv_addf(&missing, "%.8s", list->commits.items[i]);
    if (!missing.count)
        return 0;
    al_answer_add_items(&missing, NAMED_MAX_BYTES, &names);
    return al_failure_bad_args(err, "Name them too, with do: \"drop\" where they are to go.",
                               "The plan leaves out %s", names.buf);
}

/* Make the parts of a commit, and add a step for each.  The rest that no part names comes last. */
static int add_parts(struct al_call *call, const struct step_arg *step, const char *oid,
                     struct al_replay_work *work, struct al_strv *rests, struct al_str *lines,
                     struct al_error *err)
{
    al_auto(al_freep) struct al_series_item *items = al_calloc(step->into.count, sizeof(*items));
    al_auto(al_split_clear) struct al_split split = AL_SPLIT_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r = work->memory ? 0 : al_inmemory_open(al_call_repo(call), &work->memory, err);

    for (size_t i = 0; i < step->into.count; i++) {
        const struct part_arg *part = (const struct part_arg *)step->into.items + i;

        items[i].message = part->message;
        items[i].part.hunks = part->hunks.count ? &part->hunks : NULL;
        items[i].part.paths = part->paths.count ? &part->paths : NULL;
    }
    if (r == 0)
        r = al_series_split(work->memory, oid, items, step->into.count, &split, err);
    for (size_t i = 0; r == 0 && i < split.commits.count; i++) {
        al_replay_work_add(work, AL_REPLAY_PICK, split.commits.items[i], NULL, 0);
        work->steps[work->nsteps - 1].part_of = al_strdup(oid);
    }
    if (split.rest) {
        al_strv_take(rests, al_take(&split.rest));
        al_answer_add_items(&split.paths, NAMED_MAX_BYTES, &names);
        al_str_addf(lines, "Left uncommitted of %.8s: hunks of %s\n", oid, names.buf);
    }
    return r;
}

/* Add the steps to the work.  AL_ERR_BAD_ARGS unless they name every commit that is replayed, and
 * only commits of the list, each once. */
static int rebase_plan_add(struct al_call *call, const struct al_objects *plan,
                           const struct al_strv *oids, const struct al_rebase_list *list,
                           struct al_replay_work *work, struct al_str *lines, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv rests = AL_STRV_INIT;
    int r = check_complete(oids, list, err);

    for (size_t i = 0; r == 0 && i < plan->count; i++)
        if (at(plan, i)->action == DO_SPLIT)
            r = add_parts(call, at(plan, i), oids->items[i], work, &rests, lines, err);
        else if (at(plan, i)->action != DO_DROP)
            al_replay_work_add(work, (enum al_replay_kind)at(plan, i)->action, oids->items[i],
                               at(plan, i)->message, 0);
    for (size_t i = 0; r == 0 && i < rests.count; i++)
        al_replay_work_add(work, AL_REPLAY_PICK, rests.items[i], NULL, 0);
    work->rests = rests.count;
    return r;
}

#define PLAN_MAX 1000

struct rebase_args {
    const char *onto;
    struct al_objects plan;
    bool autosquash;
    bool update_refs;
    const char *working_dir;
};

static const struct al_param rebase_params[] = {
    AL_STRING(struct rebase_args, onto,
              "Default: the upstream; with plan, below its oldest commit.", .flags = AL_PARAM_NAME,
              .check = al_arg_check_revision),
    AL_OBJECTS(struct rebase_args, plan, "Every commit, oldest first, as it is to be.",
               rebase_plan_row, .min = 1, .max = PLAN_MAX, .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL(struct rebase_args, autosquash, NULL),
    AL_BOOL(struct rebase_args, update_refs, "Other branches on these commits follow."),
    AL_WORKING_DIR_ROW(struct rebase_args),
};

/* Check the steps by themselves: which of them take a message. */
static int check_rebase(void *p, struct al_error *err)
{
    const struct rebase_args *args = p;
    bool kept = false;

    if (args->plan.count && args->autosquash)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "plan and autosquash cannot both hold: a plan has an order of its own");
    for (size_t i = 0; i < args->plan.count; i++) {
        const struct step_arg *step = at(&args->plan, i);

        if (step->action == AL_REPLAY_REWORD && !step->message)
            return al_error_set(err, AL_ERR_BAD_ARGS, "plan[%zu].message is required with reword",
                                i);
        if ((step->action == DO_SPLIT) != (step->into.count > 0))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "plan[%zu]: split takes into, a list of parts, and nothing else "
                                "does",
                                i);
        if (step->message && step->action != AL_REPLAY_REWORD && step->action != AL_REPLAY_SQUASH)
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "plan[%zu].message goes with reword and squash only", i);
        if (!kept && (step->action == AL_REPLAY_SQUASH || step->action == AL_REPLAY_FIXUP))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "plan[%zu] has no commit before it to be joined with", i);
        kept |= step->action != DO_DROP;
    }
    return 0;
}

/* A plan is replayed on the commit below its oldest one, which is NULL where that is the first of
 * the history. */
static int find_onto(struct al_call *call, const struct rebase_args *args,
                     const struct al_strv *planned, char **ret_onto, struct al_error *err)
{
    al_auto(al_freep) char *oldest = NULL;
    int r;

    if (args->onto)
        return al_git_resolve_commit(al_call_repo(call), args->onto, ret_onto, err);
    if (args->plan.count) {
        r = al_commit_list_base(al_call_repo(call), planned, &oldest, ret_onto, err);
        if (r < 0 || (oldest && al_strv_contains(planned, oldest)))
            return r;
        return al_failure_bad_args(
            err, "Name every commit from the oldest one to HEAD; git_log lists them.",
            "The plan leaves out the commit that its others build on%s%.8s", oldest ? ": " : "",
            oldest ? oldest : "");
    }
    r = al_git_find_object(al_call_repo(call), "@{upstream}", "commit", ret_onto, err);
    if (r == 0 && !*ret_onto)
        r = al_failure_bad_args(err, "Give onto: a branch or a revision, such as origin/main.",
                                "The branch has no upstream to rebase onto");
    return r;
}

static int resolve_rebase(struct al_call *call, struct al_error *err)
{
    const struct rebase_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv planned = AL_STRV_INIT;
    al_auto(al_freep) char *onto = NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < args->plan.count; i++) {
        al_auto(al_freep) char *oid = NULL;

        r = al_git_resolve_commit(al_call_repo(call), at(&args->plan, i)->commit, &oid, err);
        if (r == 0 && al_strv_contains(&planned, oid))
            return al_error_set(err, AL_ERR_BAD_ARGS, "plan[%zu] names %.8s once more", i, oid);
        if (r == 0)
            al_strv_take(&planned, al_take(&oid));
    }
    if (r == 0)
        r = find_onto(call, args, &planned, &onto, err);
    if (r < 0)
        return r;
    al_call_resolve(call, RESOLVED_ONTO, onto);
    add_resolved(call, &planned);
    return 0;
}

static int build_rebase(struct al_call *call, struct al_replay_work *work, struct al_str *lines,
                        struct al_error *err)
{
    const struct rebase_args *args = al_call_args(call);
    const char *onto = al_call_resolved(call, RESOLVED_ONTO);
    al_auto(al_rebase_list_clear) struct al_rebase_list list = AL_REBASE_LIST_INIT;
    al_auto(al_strv_clear) struct al_strv planned = AL_STRV_INIT, held = AL_STRV_INIT;
    size_t known;
    int r;

    work->kind = AL_WORK_REBASE;
    work->is_root = !*onto;
    work->onto = *onto ? al_strdup(onto) : NULL;
    al_resolved_words(call, RESOLVED_COMMITS, &planned);
    r = al_commit_list_rebase(al_call_repo(call), work->onto, "HEAD", &list, err);
    if (r < 0)
        return r;
    work->onto_name = args->onto ? al_strdup(args->onto) : NULL;
    known = list.all.count - list.commits.count;
    if (known)
        al_str_addf(lines, "%s left out: their change is there already\n",
                    al_counted(known, "commit", "commits").text);
    if (list.merges.count)
        al_str_addf(lines, "%s left out: a rebase makes the history linear\n",
                    al_counted(list.merges.count, "merge", "merges").text);
    if (args->autosquash)
        r = al_replay_autosquash(al_call_repo(call), &list.commits, work, err);
    else if (args->plan.count)
        r = rebase_plan_add(call, &args->plan, &planned, &list, work, lines, err);
    else
        for (size_t i = 0; i < list.commits.count; i++)
            al_replay_work_add(work, AL_REPLAY_PICK, list.commits.items[i], NULL, 0);
    if (r == 0 && args->update_refs)
        r = al_replay_add_followers(al_call_repo(call), &list.commits, work, &held, err);
    al_outcome_add_list("Not moved along: ", &held, NAMED_MAX_BYTES, lines);
    return r;
}

/* Those of git_cherry_pick and git_revert. */

#define COMMITS_MAX  1000
#define MAINLINE_MAX 16

/* git_cherry_pick has no `mainline`, which is then absent. */
struct pick_args {
    struct al_strv commits;
    bool no_commit;
    struct al_opt_int mainline;
    const char *working_dir;
};

#define COMMITS_ROW                                                                                \
    AL_STRINGS(struct pick_args, commits, "Revisions, or ranges A..B.",                            \
               .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .min = 1, .max = COMMITS_MAX,           \
               .min_bytes = 1, .check = al_arg_check_range)
#define NO_COMMIT_ROW AL_BOOL(struct pick_args, no_commit, "Only stage the changes.")

static const struct al_param pick_params[] = {
    COMMITS_ROW,
    NO_COMMIT_ROW,
    AL_WORKING_DIR_ROW(struct pick_args),
};

static const struct al_param revert_params[] = {
    COMMITS_ROW,
    NO_COMMIT_ROW,
    AL_INT(struct pick_args, mainline, "Of a merge: the parent to go back to.", .min = 1,
           .max = MAINLINE_MAX),
    AL_WORKING_DIR_ROW(struct pick_args),
};

/* The words are resolved once: what was approved is what is applied. */
static int resolve_picks(struct al_call *call, struct al_error *err)
{
    const struct pick_args *args = al_call_args(call);
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    int r = 0;

    for (size_t i = 0; r == 0 && i < args->commits.count; i++)
        r = al_commit_list_add(al_call_repo(call), args->commits.items[i], is_revert(call),
                               &commits, err);
    if (r == 0 && !commits.count)
        r = al_failure_set(err, "git_log with the range shows what is in it.",
                           "The range has no commits");
    add_resolved(call, &commits);
    return r;
}

static int check_merges(const struct pick_args *args, bool reverts,
                        const struct al_inmemory *memory, const struct al_strv *commits,
                        struct al_error *err)
{
    for (size_t i = 0; i < commits->count; i++) {
        const struct al_commit_read *commit = al_inmemory_known(memory, commits->items[i]);
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

static int build_picks(struct al_call *call, struct al_replay_work *work, struct al_error *err)
{
    const struct pick_args *args = al_call_args(call);
    bool reverts = is_revert(call);
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    int r = al_inmemory_open(al_call_repo(call), &work->memory, err);

    al_resolved_words(call, RESOLVED_COMMITS, &commits);
    if (r == 0)
        r = al_inmemory_read(work->memory, &commits, err);
    if (r == 0)
        r = check_merges(args, reverts, work->memory, &commits, err);
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

/* Trying the work and doing it. */

/* The work of a call, kept from `authorize` on. */
struct attempt {
    struct al_replay_work *work;
    struct al_str lines; /* what the result says besides, whole lines */
    bool published;      /* commits that a remote-tracking branch has would leave the branch */
};

static void attempt_free(void *data)
{
    struct attempt *attempt = data;

    al_replay_work_free(attempt->work);
    al_str_clear(&attempt->lines);
    free(attempt);
}

static struct attempt *attempt_of(struct al_call *call)
{
    return al_call_tool_data(call);
}

/* Uncommitted changes go along; but what a split leaves uncommitted would not be told from what is
 * staged. */
static int check_uncommitted(struct al_call *call, const struct attempt *attempt,
                             struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    bool staged;
    int r = al_uncommitted_files(al_call_repo(call), &files, &staged, err);

    if (r < 0 || !staged)
        return r;
    al_call_plan(call)->loses_staged = true;
    return attempt->work->rests ? al_uncommitted_refuse("There are staged changes", &files, err)
                                : 0;
}

static int build_and_try(struct al_call *call, struct al_error *err)
{
    const struct rebase_args *rebase = is_rebase(call) ? al_call_args(call) : NULL;
    struct attempt *attempt = al_calloc(1, sizeof(*attempt));
    struct al_replay_work *work = al_replay_work_new();
    bool splits = false;
    int r;

    attempt->lines = AL_STR_INIT;
    attempt->work = work;
    al_call_set_tool_data(call, attempt, attempt_free);
    work->goes_along = true;
    r = is_rebase(call) ? build_rebase(call, work, &attempt->lines, err)
                        : build_picks(call, work, err);
    if (r == 0)
        r = al_replay_work_try(al_call_repo(call), work, err);
    for (size_t i = 0; rebase && i < rebase->plan.count; i++)
        splits |= at(&rebase->plan, i)->action == DO_SPLIT;
    if (r == 0 && work->replayed.stopped && splits)
        r = al_replay_conflict(
            work->memory, &work->replayed, work->steps[work->replayed.commits.count].commit,
            "cannot be replayed on the parts",
            "Name what it needs in a part; what no part names stays uncommitted.", err);
    for (size_t i = 0; i < work->nfollowers; i++)
        al_strv_add(&al_call_plan(call)->along, work->followers[i].ref);
    if (r == 0)
        r = check_uncommitted(call, attempt, err);
    if (r < 0 || work->kind != AL_WORK_REBASE)
        return r;
    /* The commits that leave the branch are only known for what does not stop; else all may. */
    return al_git_has_pushed(al_inmemory_repo(work->memory), work->head,
                             work->replayed.stopped ? work->onto : work->replayed.tip,
                             &attempt->published, err);
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r = al_everyday_check_idle(call, err);

    if (r == 0 && !repo->vetting->has_identity)
        r = al_git_no_identity(err);
    if (r == 0 && !*head)
        r = al_failure_set(err, "git_commit makes the first one.", "There is no commit yet");
    return r < 0 ? r : build_and_try(call, err);
}

/* "a to 1a2b3c4d, b", a line; a branch goes to what is known of it. */
static void add_moved(const struct al_replay_work *work, const char *title, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    for (size_t i = 0; i < work->nfollowers; i++) {
        const struct al_follower *follower = &work->followers[i];
        const char *to = work->replayed.stopped ? NULL : al_follower_to(work, follower);
        al_auto(al_str_clear) struct al_str name = AL_STR_INIT;

        al_place_add_name(follower->ref + strlen("refs/heads/"), &name);
        al_strv_addf(&names, to ? "%s to %.8s" : "%s", name.buf, to);
    }
    al_outcome_add_list(title, &names, NAMED_MAX_BYTES, out);
}

static bool is_published(struct al_call *call)
{
    const struct attempt *attempt = attempt_of(call);

    return attempt && attempt->published;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_replay_work *work = attempt_of(call)->work;
    const char *tip = work->replayed.stopped ? work->onto : work->replayed.tip;
    al_auto(al_freep) char *not_tip = al_asprintf("^%s", tip);
    al_auto(al_freep) char *not_head = al_asprintf("^%s", work->head);
    const struct al_repo *view = al_inmemory_repo(work->memory);
    bool any = false, comes = false;
    int r = 0;

    al_git_show_unsigned(al_call_repo(call), out);
    if (work->kind == AL_WORK_REBASE)
        r = al_git_commits_excerpt(
            view,
            &(struct al_commits_shown){ .words = (const char *const[]){ work->head, not_tip, NULL },
                                        .format = "  %h %s",
                                        .title = "These commits leave the branch:" },
            out, &any, err);
    add_moved(work, "These branches follow: ", out);
    if (r == 0 && work->replayed.stopped) {
        al_str_adds(out, "It will stop at a conflict.\n");
        return 0;
    }
    if (r == 0)
        r = al_git_commits_excerpt(
            view,
            &(struct al_commits_shown){ .words = (const char *const[]){ tip, not_head, NULL },
                                        .format = "  %h %s",
                                        .title = "These come:" },
            out, &comes, err);
    if (r == 0 && !any && !comes)
        al_call_plan(call)->skips_approval = true;
    return r;
}

static int changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct al_replay_work *work = attempt_of(call)->work;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    int r;

    *ret_known = !work->replayed.stopped;
    if (work->replayed.stopped || !strcmp(work->head, work->replayed.tip))
        return 0;
    r = al_git_list_changed(al_inmemory_repo(work->memory), work->head,
                            work->files ? work->files : work->replayed.tip, &files, err);
    for (size_t i = 0; r == 0 && i < files.count; i++)
        al_strv_take(out, al_fs_join(al_call_repo(call)->at.top, files.items[i]));
    return r;
}

/* The commits that were replayed, without those that left nothing. */
static size_t count_kept(const struct al_replay_work *work)
{
    size_t kept = 0;

    for (size_t i = 0; i + work->rests < work->replayed.commits.count; i++)
        kept += *work->replayed.commits.items[i] != '\0';
    return kept;
}

#define COMMITS_SHOWN 20

/* The newest first.  One that others were melded into comes once. */
static void add_commits(struct al_call *call, struct al_str *text)
{
    const struct al_replay_work *work = attempt_of(call)->work;
    const struct al_strv *done = &work->replayed.commits;
    const char *last = "";
    size_t count = 0;

    for (size_t i = done->count - work->rests; i > 0; i--) {
        const char *oid = done->items[i - 1];
        al_auto(al_freep) char *subject = NULL;

        if (!*oid || !strcmp(oid, last))
            continue;
        last = oid;
        if (count++ >= COMMITS_SHOWN)
            continue;
        subject = al_message_subject(al_inmemory_known(work->memory, oid)->message);
        al_place_addf(text, "  %.8s %s\n", oid, subject);
    }
    if (count > COMMITS_SHOWN)
        al_str_addf(text, "  and %zu older ones\n", count - COMMITS_SHOWN);
}

/* The commits that the plan drops. */
static size_t count_dropped(const struct al_objects *plan)
{
    size_t dropped = 0;

    for (size_t i = 0; i < plan->count; i++)
        dropped += at(plan, i)->action == DO_DROP;
    return dropped;
}

static void add_rebased(struct al_call *call, const struct rebase_args *args,
                        const struct al_merge_outcome *outcome, struct al_str *text)
{
    const struct al_replay_work *work = attempt_of(call)->work;
    const size_t nsteps = work->nsteps - work->rests, empty = nsteps - count_kept(work);
    const size_t dropped = count_dropped(&args->plan);

    if (outcome->up_to_date) {
        al_str_adds(text, "Nothing to do: the commits are there already, as they are to be.\n");
        return;
    }
    al_str_adds(text, work->is_root ? "Rebased from the first commit on" : "Rebased onto ");
    if (args->onto)
        al_place_add_name(args->onto, text);
    else if (!work->is_root)
        al_str_addf(text, "%.8s", work->onto);
    al_str_addf(text, ", %s replayed", al_counted(nsteps, "commit", "commits").text);
    if (empty)
        al_str_addf(text, ", %zu of them dropped as empty", empty);
    if (dropped)
        al_str_addf(text, ", %zu dropped by the plan", dropped);
    al_str_adds(text, empty < nsteps ? "; newest first:\n" : "\n");
}

static void add_picked(struct al_call *call, const struct pick_args *args, struct al_str *text)
{
    const struct al_replay_work *work = attempt_of(call)->work;
    const size_t kept = count_kept(work), left_out = work->replayed.commits.count - kept;

    al_str_addf(text, "%s %s%s", is_revert(call) ? "Reverted" : "Picked",
                al_counted(kept, "commit", "commits").text,
                args->no_commit ? ", staged and not committed" : "");
    if (left_out)
        al_str_addf(text, "; %zu changed nothing here and %s left out", left_out,
                    left_out == 1 ? "was" : "were");
    al_str_adds(text, kept && !args->no_commit ? ":\n" : "\n");
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    static const char rebased[] = "pre-rebase post-checkout post-rewrite";
    static const char picked[] = "pre-commit prepare-commit-msg commit-msg post-commit";
    const struct attempt *attempt = attempt_of(call);
    const bool rebases = is_rebase(call);
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    struct al_str *text = &result->text;
    int r = al_everyday_check_idle(call, err);

    if (r == 0)
        r = al_replay_work_do(al_call_repo(call), attempt->work, al_call_max_bytes(call), &outcome,
                              err);
    if (r < 0)
        return r;
    if (outcome.conflicted || (rebases && outcome.in_progress)) {
        al_str_addf(text, "The %s stopped at a conflict.\n%s",
                    rebases           ? "rebase"
                    : is_revert(call) ? "revert"
                                      : "cherry-pick",
                    attempt->lines.buf);
        if (attempt->work->no_commit &&
            attempt->work->replayed.commits.count + 1 < attempt->work->nsteps)
            al_str_adds(text, "The commits after that one were not applied\n");
        add_moved(attempt->work, "When it is done, these branches follow: ", text);
        return al_outcome_stopped(call, result, err);
    }
    if (rebases)
        add_rebased(call, al_call_args(call), &outcome, text);
    else
        add_picked(call, al_call_args(call), text);
    if (attempt->work->no_commit || outcome.up_to_date)
        return 0;
    add_commits(call, text);
    al_str_adds(text, attempt->lines.buf);
    add_moved(attempt->work, "Moved along: ", text);
    al_outcome_add_skipped(call, rebases ? rebased : picked, true, text);
    return 0;
}

/* The tools. */

#define EFFECTS (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_REWRITES_HISTORY)

static const struct al_stricter stricter[] = {
    { NULL, is_published, AL_REPLAY_CONDITION, 0 },
};

const struct al_tool al_tool_everyday_rebase = {
    .name = "git_rebase",
    .title = "Rebase",
    .about = "Replay the branch's commits on another, or reorder, squash, reword and drop them by "
             "plan.",
    AL_TOOL_ONE(rebase_params, "rebase", NULL, EFFECTS, execute, AL_ASKS_UNLESS_SAVED),
    AL_EVERYDAY_TOOL(struct rebase_args),
    AL_TOOL_STRICTER(stricter),
    .moves_branch = true,
    .check = check_rebase,
    .resolve = resolve_rebase,
    .authorize = authorize,
    .preview = preview,
    .changed_files = changed_files,
    .moves = AL_MOVES_HEAD | AL_MOVES_BRANCH, /* one that stops detaches HEAD */
    .keeps_staged = true,
    .summary = "Rebase the current branch[onto? onto {onto}][plan? by a plan of {#plan step}]"
               "[autosquash? with autosquash]"
               "[update_refs?; other branches on its commits follow]",
};

#define WRITES (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS)

/* The part that both tools have. */
#define SHARED                                                                                     \
    AL_EVERYDAY_TOOL(struct pick_args), .moves_branch = true, .resolve = resolve_picks,            \
                                        .authorize = authorize, .preview = preview,                \
                                        .changed_files = changed_files, .moves = AL_MOVES_BRANCH

const struct al_tool al_tool_everyday_cherry_pick = {
    SHARED,
    .name = "git_cherry_pick",
    .title = "Cherry-pick",
    .about = "Apply the changes of commits to the current branch.",
    AL_TOOL_ONE(pick_params, "cherry_pick", NULL, WRITES, execute, AL_ASKS_UNLESS_SAVED),
    .summary = "Cherry-pick {commits:9}[no_commit?, without a commit]",
};

const struct al_tool al_tool_everyday_revert = {
    SHARED,
    .name = "git_revert",
    .title = "Revert",
    .about = "Make commits that take the changes of other commits back.",
    AL_TOOL_ONE(revert_params, "revert", NULL, WRITES, execute, AL_ASKS_UNLESS_SAVED),
    .summary = "Revert {commits:9}[no_commit?, without a commit]",
};
