// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/work.h"

#include <stdlib.h>

#include "gitops/plumbing/revision.h"
#include "gitops/reading/worktree_state.h"
#include "gitops/refs.h"
#include "gitops/replay/advance.h"
#include "gitops/sequencer/merge_run.h"
#include "gitops/sequencer/overwrite.h"

struct al_replay_work *al_replay_work_new(void)
{
    struct al_replay_work *work = al_calloc(1, sizeof(*work));

    work->replayed = AL_REPLAYED_INIT;
    return work;
}

void al_replay_work_free(struct al_replay_work *work)
{
    if (!work)
        return;
    for (size_t i = 0; i < work->nsteps; i++) {
        free(work->steps[i].commit);
        free(work->steps[i].message);
    }
    free(work->steps);
    free(work->onto);
    free(work->onto_name);
    free(work->head);
    al_replayed_clear(&work->replayed);
    al_inmemory_free(work->memory);
    free(work);
}

void al_replay_work_add(struct al_replay_work *work, enum al_replay_kind kind, const char *commit,
                        const char *message, unsigned mainline)
{
    work->steps = al_reallocarray(work->steps, work->nsteps + 1, sizeof(*work->steps));
    work->steps[work->nsteps++] = (struct al_work_step){
        .kind = kind,
        .commit = al_strdup(commit),
        .message = message ? al_strdup(message) : NULL,
        .mainline = mainline,
    };
}

static int replay(struct al_replay_work *work, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) struct al_replay_step *steps = al_calloc(work->nsteps + 1, sizeof(*steps));
    const struct al_replay replay = {
        .onto = work->onto,
        .is_root = work->is_root,
        .steps = steps,
        .nsteps = work->nsteps,
        .fast_forwards = work->kind == AL_WORK_REBASE,
        .when_empty = AL_EMPTY_DROPPED,
    };

    for (size_t i = 0; i < work->nsteps; i++)
        steps[i] = (struct al_replay_step){ .commit = work->steps[i].commit,
                                            .kind = work->steps[i].kind,
                                            .message = work->steps[i].message,
                                            .mainline = work->steps[i].mainline };
    al_replayed_clear(&work->replayed);
    return al_inmemory_replay(work->memory, &replay, budget, &work->replayed, err);
}

int al_replay_work_try(const struct al_repo *repo, struct al_replay_work *work,
                       struct al_run_limits *budget, struct al_error *err)
{
    int r = 0;

    free(work->head);
    work->head = al_ref_head(&repo->at);
    if (!work->memory)
        r = al_inmemory_open(repo, &work->memory, err);
    if (r == 0 && work->is_root) {
        free(al_take(&work->onto)); /* git rebase --root too begins with an empty commit */
        r = al_inmemory_nothing(work->memory, budget, &work->onto, err);
    }
    return r < 0 ? r : replay(work, budget, err);
}

int al_replay_work_rebase(const struct al_repo *repo, struct al_replay_work *work, const char *onto,
                          const char *onto_name, struct al_run_limits *budget,
                          struct al_rebase_list *list, struct al_error *err)
{
    int r = al_commit_list_rebase(repo, onto, false, budget, list, err);

    work->kind = AL_WORK_REBASE;
    work->onto = al_strdup(onto);
    work->onto_name = al_strdup(onto_name);
    for (size_t i = 0; r == 0 && i < list->commits.count; i++)
        al_replay_work_add(work, AL_REPLAY_PICK, list->commits.items[i], NULL, 0);
    return r < 0 ? r : al_replay_work_try(repo, work, budget, err);
}

int al_replay_check_clean(const struct al_repo *repo, bool files, struct al_run_limits *budget,
                          struct al_error *err)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    int r = al_git_read_worktree_state(repo, "no", NULL, NULL, budget, &state, err);

    if (r < 0 || (!state.staged && !(files && state.unstaged)))
        return r;
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR,
                          "There are uncommitted changes: %zu staged, %zu not staged", state.staged,
                          state.unstaged);
    if (err) {
        err->reason = "conflict";
        err->remedy = "Commit them with git_commit, or put them aside with git_stash, first.";
    }
    return r;
}

/* Fail if content would be written through a filter: of a path that differs from a picked commit,
 * or from what a reverted one is taken back to. */
static int check_programs(const struct al_repo *repo, const struct al_replay_work *work,
                          struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;

    for (size_t i = 0; i < work->nsteps; i++) {
        const struct al_work_step *step = &work->steps[i];
        al_auto(al_freep) char *parent =
            al_asprintf("%s^%u", step->commit, step->mainline ? step->mainline : 1);
        al_auto(al_freep) char *oid = NULL;
        int r = 0;

        if (work->kind == AL_WORK_REVERT)
            r = al_git_find_object(repo, parent, "commit", budget, &oid, err);
        if (r < 0)
            return r;
        if (work->kind != AL_WORK_REVERT)
            al_strv_add(&sides, step->commit);
        else
            al_strv_add(&sides, oid ? oid : al_git_empty_tree(repo));
    }
    return al_git_check_merge_programs(repo, work->head, &sides, budget, err);
}

/* git's own command from the beginning; what came to nothing is left out, as it was in memory. */
static int run_for_real(struct al_repo *repo, const struct al_replay_work *work, size_t max_bytes,
                        struct al_run_limits *budget, struct al_merge_outcome *outcome,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const struct al_strv *done = &work->replayed.commits;
    int r = check_programs(repo, work, budget, err);

    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* it may run git commit */
    al_strv_adds(&command.argv, "git", work->kind == AL_WORK_REVERT ? "revert" : "cherry-pick",
                 "--no-gpg-sign", "--no-rerere-autoupdate", "--no-edit", NULL);
    if (work->no_commit)
        al_strv_add(&command.argv, "--no-commit");
    if (work->nsteps && work->steps[0].mainline)
        al_strv_addf(&command.argv, "--mainline=%u", work->steps[0].mainline);
    for (size_t i = 0; i < work->nsteps; i++)
        if (i >= done->count || *done->items[i])
            al_strv_add(&command.argv, work->steps[i].commit);
    return al_merge_bring(repo,
                          &(struct al_merge_input){ .command = &command,
                                                    .oid = work->steps[work->nsteps - 1].commit,
                                                    .head = work->head },
                          max_bytes, budget, outcome, err);
}

/* The entry of the reflog, as git words it. */
static int reflog_of(const struct al_replay_work *work, struct al_run_limits *budget,
                     char **ret_text, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_freep) char *subject = NULL;
    int r;

    if (work->kind == AL_WORK_REBASE) {
        *ret_text = al_asprintf("rebase (finish): onto %s", work->onto);
        return 0;
    }
    al_strv_adds(&command.argv, "git", "log", "-1", "--no-walk", "--format=%s", work->replayed.tip,
                 "--", NULL);
    r = al_git_run_word(al_inmemory_repo(work->memory), &command, budget, &subject, err);
    if (r == 0)
        *ret_text = al_asprintf("%s: %s", work->kind == AL_WORK_REVERT ? "revert" : "cherry-pick",
                                subject ? subject : "");
    return r;
}

static int finish(struct al_repo *repo, const struct al_replay_work *work,
                  struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *reflog = NULL;
    int r = reflog_of(work, budget, &reflog, err);

    if (r == 0)
        r = al_inmemory_accept(work->memory, work->replayed.tip, budget, err);
    if (r < 0)
        return r;
    return al_git_advance(repo,
                          &(struct al_advance){ .from = work->head,
                                                .to = work->replayed.tip,
                                                .reflog = reflog,
                                                .keeps_head = work->no_commit,
                                                .sets_orig_head = work->kind == AL_WORK_REBASE },
                          budget, err);
}

/* git writes over ignored files without a word, and no checkpoint has them.  A replay that stops
 * writes what it begins at, what each commit has, by and by, and what the step that conflicts
 * leaves. */
static int check_no_overwrite(const struct al_replay_work *work, struct al_run_limits *budget,
                              struct al_error *err)
{
    const struct al_repo *view = al_inmemory_repo(work->memory);
    const struct al_replayed *replayed = &work->replayed;
    const bool moves = work->kind == AL_WORK_REBASE && !work->is_root;
    int r = moves ? al_overwrite_check(view, work->head, work->onto, budget, err) : 0;

    if (r == 0)
        r = al_overwrite_check_steps(view, work->onto, replayed->tip, budget, err);
    return r < 0 || !replayed->conflict.tree
               ? r
               : al_overwrite_check(view, replayed->tip, replayed->conflict.tree, budget, err);
}

int al_replay_work_do(struct al_repo *repo, struct al_replay_work *work, size_t max_bytes,
                      struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                      struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r;

    if (strcmp(head, work->head) != 0)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                 "The branch moved while this was prepared; nothing was done");
    if (!work->replayed.stopped && !strcmp(work->head, work->replayed.tip)) {
        ret_outcome->up_to_date = true;
        return 0;
    }
    if (!work->replayed.stopped)
        return finish(repo, work, budget, err);
    r = check_no_overwrite(work, budget, err);
    if (r < 0)
        return r;
    if (work->kind == AL_WORK_REBASE)
        return al_replay_begin_rebase(repo, work, max_bytes, budget, ret_outcome, err);
    return run_for_real(repo, work, max_bytes, budget, ret_outcome, err);
}
