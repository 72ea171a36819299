// SPDX-License-Identifier: Apache-2.0
/* The deadline and the cancel token of a call, for work that airlock does itself. */
#ifndef AL_GITOPS_DEADLINE_H
#define AL_GITOPS_DEADLINE_H

#include <stdint.h>

#include "gitops/command.h"
#include "util/error.h"

/** The deadline of a call while airlock works.  Set it up with al_deadline_begin(). */
struct al_deadline {
    struct al_run_limits *budget; /* borrowed; current for children after al_deadline_sync() */
    int64_t deadline_ms;
    uint32_t total_ms; /* the time at the beginning, for the message */
    unsigned steps;
};

/** Begin to count the time. */
struct al_deadline al_deadline_begin(struct al_run_limits *budget);

/** Subtract the time that passed from the budget; do this before a child is started. */
void al_deadline_sync(struct al_deadline *deadline);

/** Call it about once for each file.  0, AL_ERR_TIMEOUT or AL_ERR_CANCELLED.  Reads the clock every
 * 128 calls. */
int al_deadline_step(struct al_deadline *deadline, struct al_error *err);

/** 0, AL_ERR_TIMEOUT or AL_ERR_CANCELLED.  Reads the clock at once. */
int al_deadline_check(struct al_deadline *deadline, struct al_error *err);

#endif
