// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/rebase_plan.h"

#include <stdlib.h>
#include <unistd.h>

#include "answer/answer.h"
#include "answer/failure.h"
#include "gitops/plumbing/revision.h"
#include "guard/arg.h"
#include "toolsets/everyday/everyday.h"
#include "util/fs.h"

#define MESSAGE_MAX_BYTES 65536
#define NAMED_MAX_BYTES   400

enum plan_do { DO_PICK, DO_REWORD, DO_SQUASH, DO_FIXUP, DO_DROP };

struct step_arg {
    bool given;
    const char *commit, *message;
    int action; /* enum plan_do */
};

static const struct al_choice actions[] = {
    { "pick", DO_PICK },   { "reword", DO_REWORD }, { "squash", DO_SQUASH },
    { "fixup", DO_FIXUP }, { "drop", DO_DROP },     { NULL, 0 },
};

static const struct al_param members[] = {
    AL_STRING(struct step_arg, commit, "Commit.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_NO_DESCRIPTION | AL_PARAM_NAME, .min_bytes = 1,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_CHOICE_AS(struct step_arg, action, "do", "What to do.", .choices = actions,
                 .flags = AL_PARAM_NO_DESCRIPTION),
    AL_STRING(struct step_arg, message, "Of reword and squash.", .flags = AL_PARAM_NO_DESCRIPTION,
              .max_bytes = MESSAGE_MAX_BYTES, .min_bytes = 1),
};

const struct al_object al_rebase_plan_row = { members, AL_COUNT(members), sizeof(struct step_arg) };

static const struct step_arg *at(const struct al_objects *plan, size_t i)
{
    return (const struct step_arg *)plan->items + i;
}

static bool melds(int action)
{
    return action == DO_SQUASH || action == DO_FIXUP;
}

int al_rebase_plan_check(const struct al_objects *plan, struct al_error *err)
{
    bool kept = false;
    int r = 0;

    for (size_t i = 0; r == 0 && i < plan->count; i++) {
        const struct step_arg *step = at(plan, i);

        if (step->action == DO_REWORD && !step->message)
            return al_error_set(err, AL_ERR_BAD_ARGS, "plan[%zu].message is required with reword",
                                i);
        if (step->message && step->action != DO_REWORD && step->action != DO_SQUASH)
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "plan[%zu].message goes with reword and squash only", i);
        if (melds(step->action) && !kept)
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "plan[%zu] has no commit before it to be joined with", i);
        kept |= step->action != DO_DROP;
        r = al_arg_check_revision("plan.commit", step->commit, err);
    }
    return r;
}

int al_rebase_plan_resolve(struct al_call *call, const struct al_objects *plan,
                           struct al_strv *ret_oids, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < plan->count; i++) {
        al_auto(al_freep) char *oid = NULL;

        r = al_git_resolve_commit(al_call_repo(call), at(plan, i)->commit, al_call_budget(call),
                                  &oid, err);
        if (r == 0 && al_strv_contains(ret_oids, oid))
            return al_error_set(err, AL_ERR_BAD_ARGS, "plan[%zu] names %.8s once more", i, oid);
        if (r == 0)
            al_strv_take(ret_oids, al_take(&oid));
    }
    return r;
}

/* The best common ancestor of all: in a plan without gaps that is its oldest commit. */
static int find_oldest(struct al_call *call, const struct al_strv *oids, char **ret_oid,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "merge-base", "--octopus", NULL);
    for (size_t i = 0; i < oids->count; i++)
        al_strv_add(&command.argv, oids->items[i]);
    return al_git_run_word(al_call_repo(call), &command, al_call_budget(call), ret_oid, err);
}

int al_rebase_plan_base(struct al_call *call, const struct al_strv *oids, char **ret_onto,
                        struct al_error *err)
{
    al_auto(al_freep) char *oldest = NULL;
    al_auto(al_freep) char *parent = NULL;
    al_auto(al_freep) char *shallow = NULL;
    int r = find_oldest(call, oids, &oldest, err);

    if (r < 0)
        return r;
    if (!oldest || !al_strv_contains(oids, oldest))
        return al_failure_bad_args(err,
                                   "Name every commit from the oldest one to HEAD; git_log "
                                   "lists them.",
                                   "The plan leaves out the commit that its others build on%s%.8s",
                                   oldest ? ": " : "", oldest ? oldest : "");
    parent = al_asprintf("%s^", oldest);
    r = al_git_find_object(al_call_repo(call), parent, "commit", al_call_budget(call), ret_onto,
                           err);
    if (r < 0 || *ret_onto)
        return r;
    shallow = al_fs_join(al_call_repo(call)->at.common_dir, "shallow");
    if (access(shallow, F_OK) == 0)
        return al_failure_set(err,
                              "Plan the commits above it; a user can fetch the rest of the history "
                              "with git fetch --unshallow.",
                              "%.8s is where the history of this shallow clone begins", oldest);
    return 0;
}

static int check_complete(const struct al_strv *oids, const struct al_strv *list,
                          const struct al_strv *all, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    for (size_t i = 0; i < oids->count; i++)
        if (!al_strv_contains(all, oids->items[i]))
            return al_failure_bad_args(err, "git_log lists the commits that are.",
                                       "plan[%zu]: %.8s is not among the commits to rebase", i,
                                       oids->items[i]);
    for (size_t i = 0; i < list->count; i++)
        if (!al_strv_contains(oids, list->items[i]))
            al_strv_addf(&missing, "%.8s", list->items[i]);
    if (!missing.count)
        return 0;
    al_answer_add_items(&missing, NAMED_MAX_BYTES, &names);
    return al_failure_bad_args(err, "Name them too, with do: \"drop\" where they are to go.",
                               "The plan leaves out %s", names.buf);
}

int al_rebase_plan_add(const struct al_objects *plan, const struct al_strv *oids,
                       const struct al_strv *list, const struct al_strv *all,
                       struct al_replay_work *work, struct al_error *err)
{
    static const enum al_replay_kind kinds[] = { [DO_PICK] = AL_REPLAY_PICK,
                                                 [DO_REWORD] = AL_REPLAY_REWORD,
                                                 [DO_SQUASH] = AL_REPLAY_SQUASH,
                                                 [DO_FIXUP] = AL_REPLAY_FIXUP };
    int r = check_complete(oids, list, all, err);

    for (size_t i = 0; r == 0 && i < plan->count; i++)
        if (at(plan, i)->action != DO_DROP)
            al_replay_work_add(work, kinds[at(plan, i)->action], oids->items[i],
                               at(plan, i)->message, 0);
    return r;
}
