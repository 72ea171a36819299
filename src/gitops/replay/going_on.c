// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/going_on.h"

#include "gitops/refs.h"
#include "gitops/replay/work.h"
#include "gitops/sequencer/operation_state.h"
#include "gitops/sequencer/overwrite.h"
#include "gitops/sequencer/rebase_continue.h"

/* The commit that what is left is replayed onto: what is staged, as it will be committed; or HEAD.
 */
static int find_start(const struct al_repo *repo, struct al_inmemory *memory, bool skips,
                      struct al_run_limits *budget, char **ret_oid, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *tree = NULL;
    int r;

    if (skips) {
        *ret_oid = al_take(&head);
        return 0;
    }
    al_strv_add(&parents, head);
    r = al_inmemory_index_tree(memory, budget, &tree, err);
    return r < 0
               ? r
               : al_inmemory_commit(memory,
                                    &(struct al_new_commit){
                                        .tree = tree, .parents = &parents, .message = "staged\n" },
                                    budget, ret_oid, err);
}

/* git stops at the first conflict, and what comes after it is looked at when it goes on. */
static int check_replayed(const struct al_replay_work *work, struct al_run_limits *budget,
                          struct al_error *err)
{
    const struct al_repo *view = al_inmemory_repo(work->memory);
    const struct al_replayed *done = &work->replayed;
    int r = al_overwrite_check_steps(view, work->onto, done->tip, budget, err);

    return r == 0 && done->stopped && !done->stopped_empty
               ? al_overwrite_check(view, done->tip, done->conflict.tree, budget, err)
               : r;
}

int al_going_on_check(const struct al_repo *repo, bool skips, struct al_run_limits *budget,
                      struct al_error *err)
{
    const enum al_operation_state state = al_git_operation_state(repo);
    const unsigned mainline = state == AL_IN_PROGRESS_REBASE ? 0 : al_todo_mainline(repo);
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT, commits = AL_STRV_INIT;
    struct al_replay_work *work;
    int r;

    al_todo_left(repo, &left);
    if (!left.count)
        return 0;
    work = al_replay_work_new();
    work->kind = AL_WORK_CHERRY_PICK;
    r = al_commit_list_full(repo, &left, budget, &commits, err);
    for (size_t i = 0; i < commits.count; i++)
        al_replay_work_add(work, state == AL_IN_PROGRESS_REVERT ? AL_REPLAY_REVERT : AL_REPLAY_PICK,
                           commits.items[i], NULL, mainline);
    if (r == 0)
        r = al_inmemory_open(repo, &work->memory, err);
    if (r == 0)
        r = find_start(repo, work->memory, skips, budget, &work->onto, err);
    if (r == 0)
        r = al_replay_work_try(repo, work, budget, err);
    if (r == 0)
        r = check_replayed(work, budget, err);
    al_replay_work_free(work);
    return r;
}
