// SPDX-License-Identifier: Apache-2.0
#include "gitops/deadline.h"

#include "proc/cancel.h"
#include "util/clock.h"

#define STEPS 128

struct al_deadline al_deadline_begin(struct al_run_limits *budget)
{
    return (struct al_deadline){ .budget = budget,
                                 .deadline_ms = al_clock_ms() + budget->left_ms,
                                 .total_ms = budget->left_ms };
}

void al_deadline_sync(struct al_deadline *deadline)
{
    int64_t left = deadline->deadline_ms - al_clock_ms();

    deadline->budget->left_ms = left > 0 ? (uint32_t)left : 1;
}

int al_deadline_check(struct al_deadline *deadline, struct al_error *err)
{
    deadline->steps = 0;
    if (deadline->budget->cancel && al_cancel_fired(deadline->budget->cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (al_clock_ms() >= deadline->deadline_ms)
        return al_error_set_code(err, AL_ERR_TIMEOUT, AL_CODE_TIMEOUT,
                                 "git command timed out after %ums", (unsigned)deadline->total_ms);
    return 0;
}

int al_deadline_step(struct al_deadline *deadline, struct al_error *err)
{
    return ++deadline->steps < STEPS ? 0 : al_deadline_check(deadline, err);
}
