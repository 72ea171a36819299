// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/replay.h"

#include <stdlib.h>

#include "answer/failure.h"
#include "answer/place.h"
#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/heads.h"
#include "gitops/preview/commits.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/sequencer/conflict.h"
#include "gitops/sequencer/operation_state.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

/** New commits that a result lists. */
#define LISTED_MAX 20

int al_everyday_check_idle(struct al_call *call, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    enum al_operation_state state = al_git_operation_state(repo);
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    int r;

    if (state != AL_IN_PROGRESS_NONE) {
        r = al_failure_set(err,
                           "Go on with git_conflicts and action continue, or give it up with "
                           "action abort.",
                           "%s %s is in progress", state == AL_IN_PROGRESS_AM ? "An" : "A",
                           al_operation_state_noun(state));
        if (err)
            err->code = AL_CODE_OPERATION_FAILED;
        return r;
    }
    r = al_git_conflicts(repo, al_call_budget(call), &conflicts, err);
    if (r < 0 || !conflicts.count)
        return r;
    r = al_failure_set(err, "git_conflicts shows and resolves them.",
                       "There are unresolved conflicts in %zu file%s", conflicts.count,
                       conflicts.count == 1 ? "" : "s");
    if (err)
        err->code = AL_CODE_CONFLICT;
    return r;
}

static void try_free(void *data)
{
    struct al_replay_try *try = data;

    if (!try)
        return;
    al_replay_work_free(try->work);
    al_str_clear(&try->lines);
    free(try);
}

struct al_replay_try *al_replay_of(struct al_call *call)
{
    return al_call_tool_data(call);
}

static int check_can_commit(const struct al_repo *repo, struct al_error *err)
{
    if (al_location_is_bare(&repo->at))
        return al_failure_set(err, "It needs a working tree.", "The repository is bare");
    if (!repo->vetting->has_identity)
        return al_git_no_identity(err);
    return al_git_check_signature(repo, err);
}

/* Which commits leave the branch is only known for what does not stop; else all may. */
static int look_at_remotes(struct al_call *call, struct al_replay_try *try, struct al_error *err)
{
    const struct al_replay_work *work = try->work;

    if (work->kind != AL_WORK_REBASE)
        return 0;
    return al_git_has_pushed(al_inmemory_repo(work->memory), work->head,
                             work->replayed.stopped ? work->onto : work->replayed.tip,
                             al_call_budget(call), &try->published, err);
}

static int build_and_try(struct al_call *call, const void *args, al_replay_build build,
                         struct al_error *err)
{
    struct al_replay_try *try = al_calloc(1, sizeof(*try));
    int r;

    try->lines = AL_STR_INIT;
    try->work = al_replay_work_new();
    al_call_set_tool_data(call, try, try_free);
    r = build(call, args, try->work, &try->lines, err);
    if (r == 0)
        r = al_replay_work_try(al_call_repo(call), try->work, al_call_budget(call), err);
    return r < 0 ? r : look_at_remotes(call, try, err);
}

int al_replay_authorize(struct al_call *call, const void *args, al_replay_build build,
                        bool clean_tree, struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&al_call_repo(call)->at);
    int r = al_everyday_check_idle(call, err);

    if (r == 0)
        r = check_can_commit(al_call_repo(call), err);
    if (r == 0 && !*head)
        r = al_failure_set(err, "git_commit makes the first one.", "There is no commit yet");
    if (r == 0)
        r = al_replay_check_clean(al_call_repo(call), clean_tree, al_call_budget(call), err);
    return r < 0 ? r : build_and_try(call, args, build, err);
}

bool al_replay_is_published(struct al_call *call, const void *args)
{
    const struct al_replay_try *try = al_replay_of(call);

    (void)args;
    return try && try->published;
}

int al_replay_preview(struct al_call *call, const void *args, struct al_str *out,
                      struct al_error *err)
{
    const struct al_replay_work *work = al_replay_of(call)->work;
    const char *tip = work->replayed.stopped ? work->onto : work->replayed.tip;
    al_auto(al_freep) char *not_tip = al_asprintf("^%s", tip);
    al_auto(al_freep) char *not_head = al_asprintf("^%s", work->head);
    const struct al_repo *view = al_inmemory_repo(work->memory);
    bool any = false, comes = false;
    int r = 0;

    (void)args;
    al_git_show_unsigned(al_call_repo(call), out);
    if (work->kind == AL_WORK_REBASE)
        r = al_git_commits_excerpt(
            view,
            &(struct al_commits_shown){ .words = (const char *const[]){ work->head, not_tip, NULL },
                                        .format = "  %h %s",
                                        .title = "These commits leave the branch:" },
            al_call_budget(call), out, &any, err);
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
            al_call_budget(call), out, &comes, err);
    if (r == 0 && !any && !comes)
        al_call_skip_approval(call);
    return r;
}

int al_replay_changed_files(struct al_call *call, const void *args, bool *ret_known,
                            struct al_strv *out, struct al_error *err)
{
    const struct al_replay_work *work = al_replay_of(call)->work;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r;

    (void)args;
    *ret_known = !work->replayed.stopped;
    if (work->replayed.stopped || !strcmp(work->head, work->replayed.tip))
        return 0;
    r = al_git_list_changed(al_inmemory_repo(work->memory), work->head, work->replayed.tip,
                            al_call_budget(call), &list, err);
    for (size_t at = 0; r == 0 && at < list.len; at += strlen(list.data + at) + 1)
        al_strv_take(out, al_fs_join(al_call_repo(call)->at.top, list.data + at));
    al_buffer_clear(&list);
    return r;
}

int al_replay_execute(struct al_call *call, struct al_merge_outcome *ret_outcome,
                      struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r = al_everyday_check_idle(call, err);

    if (r == 0 && strcmp(head, al_replay_of(call)->work->head) != 0)
        r = al_failure_set(err, "Nothing was done; call again.",
                           "The branch moved while this was prepared");
    return r < 0 ? r
                 : al_replay_work_do(repo, al_replay_of(call)->work, al_call_max_bytes(call),
                                     al_call_budget(call), ret_outcome, err);
}

/* Fields: abbreviated id and subject. */
static bool add_line(void *payload, char *const *fields)
{
    struct al_str *text = payload;

    al_str_adds(text, "  ");
    al_place_add_name(fields[0], text);
    al_str_addc(text, '\n');
    return true;
}

int al_replay_add_commits(struct al_call *call, struct al_str *text, struct al_error *err)
{
    const struct al_replay_work *work = al_replay_of(call)->work;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, add_line, text);
    al_auto(al_freep) char *range = al_asprintf("%s..%s", work->head, work->replayed.tip);
    size_t count = 0;
    int r;

    for (size_t i = 0; i < work->replayed.commits.count; i++)
        count += *work->replayed.commits.items[i] != '\0';
    al_strv_adds(&command.argv, "git", "log", "-z", "--topo-order", "--abbrev=8", "--no-decorate",
                 "--encoding=UTF-8", "--format=%h %s", NULL);
    al_strv_addf(&command.argv, "--max-count=%d", LISTED_MAX);
    al_strv_adds(&command.argv, range, "--", NULL);
    r = al_git_read_records(&al_call_repo(call)->at, &command, &records, al_call_budget(call), err);
    if (r == 0 && count > LISTED_MAX)
        al_str_addf(text, "  and %zu older ones\n", count - LISTED_MAX);
    return r;
}
