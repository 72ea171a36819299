// SPDX-License-Identifier: Apache-2.0
/* The preview of a call, made from objects that do not change while it is read. */
#include "gitops/preview/stable_read.h"
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

static int preview_once(struct al_call *call, struct al_stable_read *reading, struct al_str *out,
                        bool *ret_stable, struct al_error *err)
{
    int r;

    *ret_stable = true;
    al_stable_read_begin(reading);
    call->budget.stable_read = reading;
    r = call->tool->preview(call, call->operation, call->args, out, err);
    call->budget.stable_read = NULL;
    return r == 0 && call->repo ? al_stable_read_check(call->repo, reading, ret_stable, err) : r;
}

int al_call_preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    al_auto(al_stable_read_clear) struct al_stable_read reading = AL_STABLE_READ_INIT;
    const bool skips_approval = call->skips_approval;
    const size_t before = out->len;
    bool is_stable = false;
    int r = 0;

    if (!call->tool->preview)
        return 0;
    for (int round = 0; r == 0 && !is_stable; round++) {
        if (round > 0)
            al_stable_read_wait(&call->budget);
        al_str_truncate(out, before);
        call->skips_approval = skips_approval;
        r = round < ROUNDS_MAX ? preview_once(call, &reading, out, &is_stable, err)
                               : keeps_changing(err);
    }
    return r;
}
