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

#include "util/error.h"

struct al_lane;

/** A piece of work; the first member of what it works on. */
struct al_job {
    void (*run)(struct al_job *job); /**< on a thread of the pool; frees the job */
    const void *owner;   /**< whose it is, only compared; NULL: nobody's, and in no lane.
                              The address means the same owner while he has jobs */
    const char *session; /**< borrowed; jobs with the same text run one after the other;
                              NULL: with any */
    size_t bytes;        /**< that it holds until it leaves its lane */

    /* Private. */
    struct al_lane *lane;
    struct al_job *next;
    struct al_job *behind, *behind_last; /* of the same session, that wait for this one */
};

/** What each owner may have. */
struct al_lane_limits {
    size_t jobs;        /**< waiting and running */
    size_t bytes;       /**< of all of these */
    size_t running;     /**< at once; 0: without limit */
    size_t large_bytes; /**< jobs with more than this run one at a time */
};

struct al_lanes {
    struct al_lane_limits limits;
    struct al_lane *first; /**< whose turn it is */
};

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

/** Have a job wait for its turn.  False: its owner has too many, or too many bytes. */
bool al_lanes_add(struct al_lanes *lanes, struct al_job *job);

/** Take the job that runs next; NULL: none may.  It counts until al_lanes_leave(). */
struct al_job *al_lanes_take(struct al_lanes *lanes);

/** A job that was taken counts no longer. */
void al_lanes_leave(struct al_lanes *lanes, struct al_job *job);

/** How many jobs could be taken now; `max` stands for more. */
size_t al_lanes_count_ready(const struct al_lanes *lanes, size_t max);

#endif
