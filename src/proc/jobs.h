// SPDX-License-Identifier: Apache-2.0
/*
 * Job slots, as in make -j: a semaphore that limits how many children work at once.
 *
 *   job      its child runs for          counts towards
 *   recent   less than AL_JOB_LONG_MS    the limit (al_proc_set_jobs())
 *   long     AL_JOB_LONG_MS or more      the limit plus AL_JOB_LONG_MAX, together with recent jobs
 *
 * A long job makes room for another, because it waits for a slow disk or walks a long history, and
 * quick children must not wait behind it.  One recent job is always allowed.  Waiting is first come
 * first served.  A thread has one job at most: see al_proc_acquire_job().
 */
#ifndef AL_PROC_JOBS_H
#define AL_PROC_JOBS_H

#include <stdbool.h>

/** A job is long after this time. */
#define AL_JOB_LONG_MS 50

/** Long jobs that make room for others. */
#define AL_JOB_LONG_MAX 16

/** Test whether another job may begin beside `recent` and `long_running` ones, with the limit
 * `max`. */
bool al_jobs_has_room(unsigned recent, unsigned long_running, unsigned max);

/** The job of the calling thread, if it has one, is long from now on. */
void al_job_make_long(void);

#endif
