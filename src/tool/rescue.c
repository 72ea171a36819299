// SPDX-License-Identifier: Apache-2.0
/* Stage 7: what somebody saved while the call was at work is not lost. */
#include "history/rescue.h"

#include <stdlib.h>

#include "gitops/repo/git.h"
#include "history/checkpoint.h"
#include "tool/private.h"

#define NAMED_MAX 20u

/* As for the checkpoint after: the call's own time may be over. */
#define END_MS 30000u

int al_call_rescue_begin(struct al_call *call, struct al_error *err)
{
    int r;

    if (!call->checkpoint[0] || !(call->operation->effects & AL_WRITES_WORKTREE))
        return 0;
    r = al_rescue_begin(&call->repo->at, al_git_requires_confinement(call->session->git),
                        &call->rescue, err);
    if (r == 0)
        call->budget.watch = al_rescue_watch(call->rescue);
    return r;
}

static char *describe(const struct al_strv *kept)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, "Somebody else saved files while this call was at work. What they saved is "
                       "kept here:");
    for (size_t i = 0; i < kept->count && i < NAMED_MAX; i++)
        al_str_addf(&text, "\n%s", kept->items[i]);
    if (kept->count > NAMED_MAX)
        al_str_addf(&text, "\nand %zu more", kept->count - NAMED_MAX);
    return al_strdup(text.buf);
}

/* What git was seen to write is the call's too, if somebody moved a branch between the look at what
 * the call can write and git's own. */
static void add_touched(struct al_call *call)
{
    const size_t known = call->writes.count;

    al_strv_sort(&call->writes);
    for (size_t i = 0; i < call->touched.count; i++)
        if (!al_strv_contains_sorted(&(struct al_strv){ call->writes.items, known },
                                     call->touched.items[i]))
            al_strv_add(&call->writes, call->touched.items[i]);
}

void al_call_rescue_end(struct al_call *call)
{
    struct al_run_limits budget = { .left_ms = END_MS, .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;

    call->budget.watch = NULL;
    if (!call->rescue)
        return;
    call->knows_touched = al_rescue_take_touched(call->rescue, &call->touched);
    add_touched(call);
    /* What it could not ask about stays aside. */
    (void)al_rescue_end(call->rescue, call->store, &budget, &kept, NULL);
    if (kept.count) {
        al_auto(al_freep) char *before = al_take(&call->rescued), *now = describe(&kept);

        call->rescued = before ? al_asprintf("%s\n\n%s", before, now) : al_take(&now);
    }
    al_rescue_free(call->rescue);
    call->rescue = NULL;
}
