// SPDX-License-Identifier: Apache-2.0
/* The deadline and the cancel token of a call, for work that airlock does itself. */
#ifndef AL_GITOPS_DEADLINE_H
#define AL_GITOPS_DEADLINE_H

#include <stdint.h>

#include "gitops/command.h"
#include "util/error.h"

/** A call's time while airlock works.  Set up with al_deadline_begin(). */
struct al_deadline {
    struct al_run_limits *budget; /* borrowed; for children, after al_deadline_sync() */
    int64_t deadline_ms;
    uint32_t total_ms; /* what was left at the beginning, for the message */
    unsigned steps;
};

/** Begin to count. */
struct al_deadline al_deadline_begin(struct al_run_limits *budget);

/** Take the time that passed off the budget; a child may be started then. */
void al_deadline_sync(struct al_deadline *deadline);

/** Called for every file or so: 0, AL_ERR_TIMEOUT or AL_ERR_CANCELLED.  Looks at the clock now and
 * then. */
int al_deadline_step(struct al_deadline *deadline, struct al_error *err);

/** The same, looking at once. */
int al_deadline_check(struct al_deadline *deadline, struct al_error *err);

#endif
