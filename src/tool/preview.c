// SPDX-License-Identifier: Apache-2.0
/* The preview of a call, made from objects that do not change while it is read. */
#include "gitops/preview/steady.h"
#include "tool/private.h"

/* Another process that only adds objects disturbs one round, perhaps two. */
#define ROUNDS_MAX 5

static int keeps_changing(struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "The repository's objects keep changing while they are looked at, so what "
                        "they are cannot be shown, and nothing was done; try again when nobody "
                        "else is at work in it");
}

static int preview_once(struct al_call *call, struct al_steady *steady, struct al_str *out,
                        bool *ret_steady, struct al_error *err)
{
    int r;

    *ret_steady = true;
    al_steady_begin(steady);
    call->budget.steady = steady;
    r = call->tool->preview(call, call->operation, call->args, out, err);
    call->budget.steady = NULL;
    return r == 0 && call->repo ? al_steady_check(call->repo, steady, ret_steady, err) : r;
}

int al_call_preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    al_auto(al_steady_clear) struct al_steady steady = AL_STEADY_INIT;
    const bool skips_approval = call->skips_approval;
    const size_t before = out->len;
    bool is_steady = false;
    int r = 0;

    if (!call->tool->preview)
        return 0;
    for (int round = 0; r == 0 && !is_steady; round++) {
        if (round > 0)
            al_steady_wait(&call->budget);
        al_str_truncate(out, before);
        call->skips_approval = skips_approval;
        r = round < ROUNDS_MAX ? preview_once(call, &steady, out, &is_steady, err)
                               : keeps_changing(err);
    }
    return r;
}
