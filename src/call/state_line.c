// SPDX-License-Identifier: Apache-2.0
#include "call/state_line.h"

#include <inttypes.h>

#include "call/answer.h"
#include "call/place.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/remotes.h"
#include "verbs/sequencer/operation_state.h"

#define REMOTES "refs/remotes/"

static void add_tracking(const struct al_worktree_state *state, struct al_str *out)
{
    if (!state->upstream)
        return;
    if (state->is_gone)
        al_place_addf(out, ", its upstream %s is gone", state->upstream);
    else if (state->ahead && state->behind)
        al_place_addf(out, " %" PRIu64 " ahead of and %" PRIu64 " behind %s", state->ahead,
                      state->behind, state->upstream);
    else if (state->ahead || state->behind)
        al_place_addf(out, " %" PRIu64 " %s %s", state->ahead + state->behind,
                      state->ahead ? "ahead of" : "behind", state->upstream);
    else if (*state->head)
        al_place_addf(out, " even with %s", state->upstream);
}

static void read_pushed(struct al_call *call, struct al_worktree_state *state)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_freep) char *name = NULL;
    al_auto(al_freep) char *tracking = NULL;
    size_t ahead, behind;

    if (state->upstream || !state->branch || !state->head || !*state->head)
        return;
    name = al_remote_push_default(repo, state->branch);
    if (!name)
        name = al_remote_default(repo, state->branch);
    if (al_remote_find(repo, name, &remote, NULL) == 0)
        tracking = al_remote_tracking(&remote, state->branch);
    if (!tracking || !al_starts_with(tracking, REMOTES) || !al_ref_exists(&repo->at, tracking) ||
        al_git_count_apart(repo, state->head, tracking, &ahead, &behind, NULL) < 0)
        return;
    state->upstream = al_strdup(tracking + strlen(REMOTES));
    state->ahead = ahead;
    state->behind = behind;
}

void al_state_add_branch(struct al_call *call, struct al_worktree_state *state, struct al_str *out)
{
    read_pushed(call, state);
    if (!state->branch && !state->is_broken) {
        al_str_addf(out, "detached at %.*s", AL_SHORT_ID, state->head ? state->head : "");
        return;
    }
    al_place_add_name(state->branch ? state->branch : "HEAD", out);
    add_tracking(state, out);
    if (!state->head || !*state->head)
        al_str_adds(out, state->is_broken ? ", its reference is broken" : ", no commits yet");
}

void al_state_add_operation(const struct al_repo *repo, struct al_str *out)
{
    enum al_operation_state state = al_git_operation_state(repo);
    unsigned long step, last;

    if (state == AL_IN_PROGRESS_NONE)
        return;
    al_str_adds(out, state == AL_IN_PROGRESS_AM ? "git am" : al_operation_state_name(state));
    if (al_git_operation_step(repo, &step, &last))
        al_str_addf(out, " %lu/%lu", step, last);
}

void al_state_add_waiting(struct al_call *call, struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    const enum al_operation_state state = al_git_operation_state(repo);
    al_auto(al_freep) char *saved = al_operation_oid(repo, AL_WAITING_CHANGES);
    al_auto(al_freep) char *base = al_asprintf("%s^1", saved ? saved : "");
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;

    if (!saved)
        return;
    /* git may have removed it: it is in the store then. */
    (void)al_git_list_changed(repo, base, saved, &files, NULL);
    al_str_adds(out, "Uncommitted changes");
    if (files.count)
        al_str_addf(out, " of %s", al_counted(files.count, "file", "files").text);
    if (state != AL_IN_PROGRESS_NONE)
        al_str_addf(out, " wait until the %s ends.\n", al_operation_state_noun(state));
    else
        al_str_adds(out, " wait: git_conflicts with action continue brings them back.\n");
}

static void add_number(size_t count, const char *what, struct al_str *out)
{
    if (count)
        al_str_addf(out, ", %s", al_counted(count, what, what).text);
}

void al_state_line(struct al_call *call, struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    al_auto(al_str_clear) struct al_str operation = AL_STR_INIT;
    al_auto(al_freep) char *waiting = NULL;

    if (!repo)
        return;
    if (al_location_is_bare(&repo->at) ||
        al_git_read_worktree_state(repo, "no", NULL, NULL, &state, NULL) < 0)
        al_worktree_state_read_head(repo, &state);
    waiting = al_operation_oid(repo, AL_WAITING_CHANGES);
    al_state_add_branch(call, &state, out);
    add_number(state.staged, "staged", out);
    add_number(state.unstaged, "not staged", out);
    al_state_add_operation(repo, &operation);
    if (operation.len)
        al_str_addf(out, ", %s", operation.buf);
    else if (waiting)
        al_str_adds(out, ", uncommitted changes wait");
    add_number(state.conflicts, state.conflicts == 1 ? "conflict" : "conflicts", out);
    al_str_addc(out, '\n');
}
