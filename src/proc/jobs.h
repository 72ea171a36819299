// SPDX-License-Identifier: Apache-2.0
/*
 * Job slots, as in make -j: a semaphore that limits how many children work at once.
 *
 *   job      held for                    counts towards
 *   recent   less than AL_JOB_LONG_MS    the limit (al_proc_set_jobs())
 *   long     AL_JOB_LONG_MS or more      the limit plus AL_JOB_LONG_MAX, together with recent jobs
 *
 * A long job makes room for another, because it waits for a slow disk or walks a long history, and
 * quick children must not wait behind it.  One recent job is always allowed.  Waiting is first come
 * first served.
 */
#ifndef AL_PROC_JOBS_H
#define AL_PROC_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "proc/cancel.h"

/** A job is long after this time. */
#define AL_JOB_LONG_MS 50

/** Long jobs that make room for others. */
#define AL_JOB_LONG_MAX 16

/** A job that is held.  The holder owns the struct; only proc/jobs.c touches its members. */
struct al_job {
    struct al_job *next;
    int64_t since_ms;
    bool is_long;
};

/** Test whether another job may begin beside `recent` and `long_running` ones, with the limit
 * `max`. */
bool al_jobs_has_room(unsigned recent, unsigned long_running, unsigned max);

/**
 * Wait for a job.
 *
 * @return 0, AL_ERR_CANCELLED when `cancel` (may be NULL) fired before or while waiting, or
 *         AL_ERR_EXECUTION when descriptors ran out.  Only after 0 is al_jobs_release() due.
 * Threads: any.
 */
int al_jobs_acquire(struct al_job *job, struct al_cancel *cancel, struct al_error *err);

/** Release a job; the thread that waits longest gets it.  Threads: any. */
void al_jobs_release(struct al_job *job);

#endif
