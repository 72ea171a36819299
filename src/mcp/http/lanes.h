// SPDX-License-Identifier: Apache-2.0
/*
 * Which job runs next, so that no owner of jobs keeps out the others.
 *
 * An owner (a token) has a lane.  The lanes take turns.  In a lane, jobs of one session run one
 * after the other, in the order they came: one that finds its session busy waits behind it and
 * holds no thread.  A lane is there as long as its owner has jobs.
 *
 *   limit      of one owner          beyond it
 *   jobs       waiting and running   al_lanes_add() refuses
 *   bytes      that these hold       al_lanes_add() refuses
 *   running    at once               the others wait
 *   large      one at a time         the others wait
 *
 * Threads: the caller locks.
 */
#ifndef AL_MCP_HTTP_LANES_H
#define AL_MCP_HTTP_LANES_H

#include <stdbool.h>
#include <stddef.h>

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

/** Have a job wait for its turn.  False: its owner has too many, or too many bytes. */
bool al_lanes_add(struct al_lanes *lanes, struct al_job *job);

/** Take the job that runs next; NULL: none may.  It counts until al_lanes_leave(). */
struct al_job *al_lanes_take(struct al_lanes *lanes);

/** A job that was taken counts no longer. */
void al_lanes_leave(struct al_lanes *lanes, struct al_job *job);

/** How many jobs could be taken now; `max` stands for more. */
size_t al_lanes_count_ready(const struct al_lanes *lanes, size_t max);

#endif
