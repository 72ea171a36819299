// SPDX-License-Identifier: Apache-2.0
/* Going back to before one execution, by its number in the journal. */
#include <inttypes.h>

#include "history/rollback_plan.h"

int al_plan_find(struct al_store *store, const struct al_executions *executions, uint64_t seq,
                 size_t *ret_index, struct al_error *err)
{
    for (size_t i = executions->count; i > 0; i--) {
        if (executions->items[i - 1].seq != seq)
            continue;
        *ret_index = i - 1;
        if (al_checkpoint_exists(store, executions->items[i - 1].before))
            return 0;
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "the checkpoint of execution %" PRIu64 " is gone", seq);
    }
    return al_error_set(err, AL_ERR_NOT_FOUND,
                        "there is no execution %" PRIu64 " with a checkpoint in this repository",
                        seq);
}

int al_plan_count_back_to(struct al_store *store, const struct al_executions *executions,
                          uint64_t seq, uint64_t newest, struct al_run_limits *budget,
                          size_t *ret_count, struct al_error *err)
{
    bool did = false, ended;
    size_t index = 0;
    int r = al_plan_find(store, executions, seq, &index, err);

    *ret_count = 0;
    if (r == 0 && newest && executions->items[executions->count - 1].seq != newest)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "execution %" PRIu64 " came since; look again at what would change",
                            executions->items[executions->count - 1].seq);
    for (size_t i = executions->count; r == 0 && i > index; i--) {
        r = al_plan_changed(store, &executions->items[i - 1], budget, &did, &ended, err);
        *ret_count += did;
    }
    if (r == 0 && !did)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "execution %" PRIu64 " changed nothing that a rollback takes back",
                            seq);
    return r;
}
