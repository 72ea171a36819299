// SPDX-License-Identifier: Apache-2.0
/*
 * Turns: how many children work at once, first come first served.
 *
 * A turn that is held for AL_JOB_LONG_MS makes room for another: what holds it up, a slow disk or
 * a long history, holds up nobody else.  Up to AL_JOB_LONG_MAX do; further ones count again, but
 * one place is always left for a turn that is new.
 */
#ifndef AL_PROC_JOBS_H
#define AL_PROC_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/cancel.h"
#include "util/error.h"

#define AL_JOB_LONG_MS  50
#define AL_JOB_LONG_MAX 16

/** A turn that somebody holds; its place is the holder's, its content this module's. */
struct al_job {
    struct al_job *next;
    int64_t since_ms;
    bool is_long;
};

/**
 * Whether another may begin beside `young` ones and `kept_long` that have run for long.
 */
bool al_jobs_has_room(unsigned recent, unsigned long_running, unsigned max);

/**
 * Wait for a turn.
 *
 * @return 0, AL_ERR_CANCELLED when `cancel` (may be NULL) fired before or while waiting, or
 *         AL_ERR_EXECUTION when descriptors ran out.  Only after 0 is al_jobs_release() due.
 */
int al_jobs_acquire(struct al_job *job, struct al_cancel *cancel, struct al_error *err);

/** Give the turn to whoever waits longest. */
void al_jobs_release(struct al_job *job);

#endif
