// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/mem.h"

/*
 * A call's own code is shallow, and its buffers are on the heap.  The deepest use is a message
 * nested as deeply as the parser allows: copying and freeing it takes 230 KiB.  The thread
 * sanitizer keeps 800 KiB of its own on this stack.
 */
#define STACK_BYTES ((size_t)1536 * 1024)

#define IDLE_MAX    8

struct al_pool {
    size_t threads_max;
    pthread_mutex_t lock; /* guards the members below, gates, lanes, and the tasks' own members */
    pthread_cond_t work;  /* a task may begin, or the pool ends */
    pthread_cond_t gone;  /* the last thread has ended */
    struct al_task *first, **last; /* that have not begun */
    size_t nthreads, nidle;
    unsigned long scan; /* number of the last look at the tasks */
    bool ending;
};

/* All functions up to next_task() expect the caller to hold the lock. */

static bool may_begin(const struct al_pool *pool, const struct al_task *task)
{
    if (task->left || pool->ending)
        return true;
    for (size_t i = 0; i < AL_TASK_GATES; i++) {
        const struct al_gate *gate = task->gates[i];

        if (gate && (gate->running >= gate->max || (gate->in_order && gate->held == pool->scan)))
            return false;
    }
    return true;
}

/* Keep those behind a task that waits from passing it. */
static void hold_order(const struct al_pool *pool, const struct al_task *task)
{
    for (size_t i = 0; i < AL_TASK_GATES; i++)
        if (task->gates[i])
            task->gates[i]->held = pool->scan;
}

static size_t load_of(const struct al_task *task)
{
    return task->lane ? task->lane->running.running : 0;
}

/* The place in the list of the task that begins next; NULL: none may. */
static struct al_task **find_next(struct al_pool *pool)
{
    struct al_task **best = NULL;

    pool->scan++;
    for (struct al_task **at = &pool->first; *at && !(best && !load_of(*best)); at = &(*at)->next) {
        if (!may_begin(pool, *at))
            hold_order(pool, *at);
        else if (!best || load_of(*at) < load_of(*best))
            best = at;
    }
    return best;
}

static void count(const struct al_task *task, size_t by)
{
    for (size_t i = 0; i < AL_TASK_GATES; i++)
        if (task->gates[i])
            task->gates[i]->running += by;
}

static struct al_task *take(struct al_pool *pool)
{
    struct al_task **at = find_next(pool);
    struct al_task *task = at ? *at : NULL;

    if (!task)
        return NULL;
    *at = task->next;
    if (!*at)
        pool->last = at;
    task->begun = true;
    if (!task->left)
        count(task, 1);
    return task;
}

/* Have a thread look for the task that may begin, if there is one.  True: add_thread() is due. */
static bool wake(struct al_pool *pool)
{
    bool adds;

    if (!find_next(pool))
        return false;
    adds = !pool->nidle && pool->nthreads < pool->threads_max;
    pool->nthreads += adds;
    (void)pthread_cond_signal(&pool->work);
    return adds;
}

static void *thread_main(void *payload);

/* Make a thread that `nthreads` counts already, without the lock.  0 or an errno: the task then
 * waits for another thread. */
static int add_thread(struct al_pool *pool)
{
    pthread_t thread;
    const int error = al_thread_start(&thread, STACK_BYTES, thread_main, pool);

    if (!error) {
        (void)pthread_detach(thread);
    } else {
        (void)pthread_mutex_lock(&pool->lock);
        pool->nthreads--;
        (void)pthread_mutex_unlock(&pool->lock);
    }
    return error;
}

static void wake_and_unlock(struct al_pool *pool)
{
    const bool adds = wake(pool);

    (void)pthread_mutex_unlock(&pool->lock);
    if (adds)
        (void)add_thread(pool);
}

/* Wait for a task.  NULL: the thread is to end. */
static struct al_task *next_task(struct al_pool *pool)
{
    struct al_task *task;

    (void)pthread_mutex_lock(&pool->lock);
    task = take(pool);
    if (!task && pool->nidle < IDLE_MAX) {
        pool->nidle++;
        while (!(task = take(pool)) && !pool->ending)
            (void)pthread_cond_wait(&pool->work, &pool->lock);
        pool->nidle--;
    }
    if (!task && --pool->nthreads == 0)
        (void)pthread_cond_signal(&pool->gone);
    wake_and_unlock(pool); /* two tasks may have come while one thread was woken */
    return task;
}

static void *thread_main(void *payload)
{
    struct al_pool *pool = payload;
    struct al_task *task;

    while ((task = next_task(pool)))
        task->run(task);
    return NULL;
}

static void clear(struct al_pool *pool)
{
    (void)pthread_mutex_destroy(&pool->lock);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_cond_destroy(&pool->gone);
    free(pool);
}

int al_pool_new(size_t threads_max, struct al_pool **ret_pool, struct al_error *err)
{
    struct al_pool *pool = al_calloc(1, sizeof(*pool));
    int error;

    pool->threads_max = threads_max;
    pool->last = &pool->first;
    pool->nthreads = 1;
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->work, NULL);
    (void)pthread_cond_init(&pool->gone, NULL);
    error = add_thread(pool);
    if (error) {
        clear(pool);
        return al_error_errno(err, error, "cannot start a thread");
    }
    *ret_pool = pool;
    return 0;
}

bool al_pool_submit(struct al_pool *pool, struct al_task *task)
{
    struct al_lane *lane = task->lane;

    (void)pthread_mutex_lock(&pool->lock);
    if (lane && (lane->ntasks == lane->tasks_max || lane->nbytes + task->bytes > lane->bytes_max)) {
        (void)pthread_mutex_unlock(&pool->lock);
        return false;
    }
    if (lane) {
        lane->ntasks++;
        lane->nbytes += task->bytes;
    }
    task->next = NULL;
    *pool->last = task;
    pool->last = &task->next;
    wake_and_unlock(pool);
    return true;
}

void al_pool_leave(struct al_pool *pool, struct al_task *task)
{
    (void)pthread_mutex_lock(&pool->lock);
    if (!task->left && task->begun)
        count(task, (size_t)-1);
    if (!task->left && task->lane) {
        task->lane->ntasks--;
        task->lane->nbytes -= task->bytes;
    }
    task->left = true;
    wake_and_unlock(pool);
}

void al_pool_come_back(struct al_pool *pool, struct al_task *task)
{
    al_hold(&pool->lock);
    if (task->left)
        count(task, 1);
    task->left = false;
}

void al_pool_free(struct al_pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    (void)pthread_cond_broadcast(&pool->work);
    while (pool->nthreads)
        (void)pthread_cond_wait(&pool->gone, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
    clear(pool);
}
