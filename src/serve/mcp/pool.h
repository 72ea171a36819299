// SPDX-License-Identifier: Apache-2.0
/*
 * The threads that serve messages and run calls: one pool for a server, on standard input or HTTP.
 *
 *   idle threads   a task may begin           a thread has done its task
 *   0              a thread is made for it    the thread waits for the next one
 *   IDLE_MAX       one of them takes it       the thread ends
 *
 * Tasks wait when no more threads are allowed, or none can be made.  They begin in the order they
 * came, but for those whose gates are full.  Tasks with a lane take turns with those of others: the
 * lane of which the fewest run comes first.
 */
#ifndef AL_SERVE_MCP_POOL_H
#define AL_SERVE_MCP_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/** A semaphore for tasks, which wait for it without a thread.  Its members but the first two are
 * private. */
struct al_gate {
    size_t max;    /**< tasks that run at once */
    bool in_order; /**< no task passes one that came before and waits for another gate */

    size_t running;
    unsigned long held;
};

/** The share of one owner of tasks. */
struct al_lane {
    size_t tasks_max; /**< waiting and running */
    size_t bytes_max; /**< of all of these */
    struct al_gate running;
    struct al_gate large; /**< for tasks with many bytes */

    size_t ntasks, nbytes; /* private */
};

#define AL_TASK_GATES 3

/** A piece of work; the first member of what it works on. */
struct al_task {
    void (*run)(struct al_task *task);    /**< on a thread of the pool; leaves and frees the task */
    struct al_gate *gates[AL_TASK_GATES]; /**< NULL: none */
    struct al_lane *lane;                 /**< NULL: none */
    size_t bytes;                         /**< in the lane */

    /* private */
    struct al_task *next;
    bool begun, left;
};

struct al_pool;

/** Make a pool with one thread.  0 or AL_ERR_EXECUTION. */
int al_pool_new(size_t threads_max, struct al_pool **ret_pool, struct al_error *err);

/** Have a task run.  False: its lane is full, and nothing was done.  Never blocks.  Threads: any.
 */
bool al_pool_submit(struct al_pool *pool, struct al_task *task);

/** The task counts no longer in its gates, for good if it has a lane, which it leaves as well.  One
 * that waits begins at once.  Again: nothing.  Threads: any. */
void al_pool_leave(struct al_pool *pool, struct al_task *task);

/** A running task that has left counts again, even where there is no room.  Threads: any. */
void al_pool_come_back(struct al_pool *pool, struct al_task *task);

/** Run the tasks that are left, then end all threads.  Nothing submits tasks any more.  NULL is
 * fine. */
void al_pool_free(struct al_pool *pool);

#endif
