// SPDX-License-Identifier: Apache-2.0
/*
 * Threads for the requests of an endpoint.  There are as many as jobs run, and a few that wait.
 *
 *   idle threads   a job comes                a thread has done its job
 *   0              a thread is made for it    the thread waits for the next one
 *   IDLE_MAX       one of them takes it       the thread ends
 *
 * When no more threads are allowed, or none can be made, jobs wait in the order they came.  Jobs
 * with an owner take turns with those of others (mcp/http/lanes.h); the rest come first.
 */
#ifndef AL_MCP_HTTP_POOL_H
#define AL_MCP_HTTP_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/http/lanes.h"
#include "util/error.h"

struct al_job_pool;

/** Make a pool with one thread.  `limits` are for each owner.  0 or AL_ERR_EXECUTION. */
int al_job_pool_new(size_t threads_max, const struct al_lane_limits *limits,
                    struct al_job_pool **ret_pool, struct al_error *err);

/** Have a job run.  False: its owner has too many, and nothing was done.  Never blocks.  Threads:
 * any. */
bool al_job_pool_submit(struct al_job_pool *pool, struct al_job *job);

/** A job with an owner counts no longer, and the next one of its session may run.  The job calls
 * this once; what its thread does afterwards is limited elsewhere.  Threads: that of the job. */
void al_job_pool_leave(struct al_job_pool *pool, struct al_job *job);

/** Run the jobs that are left, then join all threads.  Nothing submits jobs any more. */
void al_job_pool_free(struct al_job_pool *pool);

#endif
