// SPDX-License-Identifier: Apache-2.0
/*
 * Threads for the requests of an endpoint.  There are as many as jobs run, and a few that wait.
 *
 *   idle threads   a job comes                a thread has done its job
 *   0              a thread is made for it    the thread waits for the next one
 *   IDLE_MAX       one of them takes it       the thread ends
 *
 * When no more threads are allowed, or none can be made, jobs wait in the order they came.
 */
#ifndef AL_MCP_HTTP_POOL_H
#define AL_MCP_HTTP_POOL_H

#include <stddef.h>

#include "util/error.h"

struct al_job_pool;

/** A piece of work; the first member of what it works on. */
struct al_job {
    struct al_job *next;             /**< the pool's */
    void (*run)(struct al_job *job); /**< on a thread of the pool; frees the job */
};

/** Make a pool with one thread.  0 or AL_ERR_EXECUTION. */
int al_job_pool_new(size_t threads_max, struct al_job_pool **ret_pool, struct al_error *err);

/** Have a job run.  Never blocks.  Threads: any. */
void al_job_pool_submit(struct al_job_pool *pool, struct al_job *job);

/** Run the jobs that are left, then join all threads.  Nothing submits jobs any more. */
void al_job_pool_free(struct al_job_pool *pool);

#endif
