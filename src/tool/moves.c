// SPDX-License-Identifier: Apache-2.0
/* What a call can move: references, HEAD and the configuration. */
#include "gitops/refs.h"
#include "tool/private.h"

/* The branch that HEAD is on, and what it leads to if it is a symbolic reference. */
static void add_current_branch(struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    al_ref_follow_head(&call->repo->at, &refs);
    if (!refs.count)
        al_strv_add(&call->moves, "HEAD");
    for (size_t i = 0; i < refs.count; i++)
        al_strv_add(&call->moves, refs.items[i]);
}

static void add_named_branches(struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv branches = AL_STRV_INIT;

    al_call_named_branches(call, AL_PARAM_BRANCH, &branches);
    for (size_t i = 0; i < branches.count; i++)
        al_strv_addf(&call->moves, "refs/heads/%s", branches.items[i]);
}

void al_call_find_moves(struct al_call *call)
{
    const unsigned effects = call->operation->effects;
    bool writes_refs = effects & (AL_WRITES_REFS | AL_REWRITES_HISTORY);
    unsigned can =
        call->tool->moves ? call->tool->moves(call->operation) : call->tool->moves_always;
    unsigned moves = writes_refs ? can : 0;
    bool any = writes_refs && !moves;

    al_strv_clear(&call->moves);
    call->moves_all = effects & (AL_RUNS_PROGRAM | AL_WRITES_FILES);
    if (effects & AL_WRITES_CONFIG)
        al_strv_add(&call->moves, "config");
    if (any)
        al_strv_add(&call->moves, "refs/");
    if (any || (moves & AL_MOVES_HEAD))
        al_strv_add(&call->moves, "HEAD");
    if (moves & AL_MOVES_BRANCH)
        add_current_branch(call);
    if (moves & AL_MOVES_NAMED)
        add_named_branches(call);
    if (moves & AL_MOVES_STASH)
        al_strv_add(&call->moves, "refs/stash");
}
