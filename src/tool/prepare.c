// SPDX-License-Identifier: Apache-2.0
/* Stages 5 and 6: the approval, the write lock, the checkpoint, and the approval checked again. */
#include "gitops/git_lock.h"
#include "gitops/repo/write_lock.h"
#include "tool/private.h"

/* The number of times that a call is asked about again because the repository changed meanwhile. */
#define ROUNDS_MAX 16

static int acquire_lock(struct al_call *call, struct al_error *err)
{
    unsigned locks = AL_LOCK_INDEX;

    if (!call->repo || call->tool->goes_back)
        return 0;
    if (call->tool->at_first_root)
        return al_write_lock_acquire(call->repo, &call->budget, err);
    if (call->tool->git_locks)
        locks |= call->tool->git_locks(call->operation);
    return al_write_lock_acquire_with(call->repo, locks, &call->budget, err);
}

int al_call_await_locks(struct al_call *call, struct al_error *err)
{
    int r;

    if (!call->repo || !al_effects_change_repository(call->operation->effects))
        return 0;
    r = acquire_lock(call, err);
    al_write_lock_release(call->repo);
    return r;
}

/* Only one call at a time writes to a repository.  If no answer is bound to the resolved arguments,
 * they are resolved again under the lock: the call before may have made the commit that this one is
 * about. */
static int lock_for_writing(struct al_call *call, struct al_error *err)
{
    int r;

    if (!al_effects_change_repository(call->operation->effects))
        return 0;
    r = acquire_lock(call, err);
    if (r < 0 || call->state[0])
        return r;
    al_call_invalidate(call);
    return al_call_resolve(call, err);
}

/* Stages 5 and 6.  An approval is valid only while the repository is what the user was shown.  It
 * is checked last, because creating a checkpoint takes time. */
int al_call_prepare(struct al_call *call, struct al_error *err)
{
    bool current = false;
    int r = 0;

    for (int round = 0; r == 0 && !current; round++) {
        r = round < ROUNDS_MAX
                ? al_approval_obtain(call, err)
                : al_error_set(err, AL_ERR_EXECUTION,
                               "The repository keeps changing under this call, and nothing was "
                               "done; try again when nobody else is at work in it");
        if (r == 0)
            r = lock_for_writing(call, err);
        if (r == 0 && call->tool->fetch && !call->fetched) {
            call->fetched = true;
            r = call->tool->fetch(call, call->args, err);
        }
        if (r == 0)
            r = al_call_checkpoint_before(call, err);
        if (r == 0)
            r = al_call_record_checkpoint(call, err);
        if (r == 0)
            r = al_approval_check(call, &current, err);
        if (r < 0 || !current) {
            al_call_invalidate(call);
            al_call_checkpoint_drop(call);
            al_write_lock_release(call->repo);
        }
    }
    return r;
}
