// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "proc/proc.h"
#include "util/mem.h"

/* As in mcp/pool.c: a deeply nested message is copied and freed on this stack. */
#define STACK_BYTES ((size_t)1536 * 1024)

#define IDLE_MAX    8

struct al_job_pool {
    size_t threads_max;
    pthread_mutex_t lock;         /* guards the members below */
    pthread_cond_t work;          /* there is a job, or the pool ends */
    pthread_cond_t gone;          /* the last thread has ended */
    struct al_job *first, **last; /* without an owner */
    struct al_lanes lanes;
    size_t nthreads, nidle;
    bool ending;
};

/* Caller holds the lock.  NULL: none. */
static struct al_job *take(struct al_job_pool *pool)
{
    struct al_job *job = pool->first;

    if (!job)
        return al_lanes_take(&pool->lanes);
    pool->first = job->next;
    if (!pool->first)
        pool->last = &pool->first;
    return job;
}

/* Wait for a job.  NULL: the thread is to end. */
static struct al_job *next_job(struct al_job_pool *pool)
{
    struct al_job *job;

    (void)pthread_mutex_lock(&pool->lock);
    job = take(pool);
    if (!job && pool->nidle < IDLE_MAX) {
        pool->nidle++;
        while (!(job = take(pool)) && !pool->ending)
            (void)pthread_cond_wait(&pool->work, &pool->lock);
        pool->nidle--;
    }
    if (!job && --pool->nthreads == 0)
        (void)pthread_cond_signal(&pool->gone);
    (void)pthread_mutex_unlock(&pool->lock);
    return job;
}

static void *thread_main(void *payload)
{
    struct al_job_pool *pool = payload;
    struct al_job *job;

    al_proc_confine_thread();
    while ((job = next_job(pool)))
        job->run(job);
    return NULL;
}

/* A thread that is being made. */
struct creation {
    struct al_job_pool *pool;
    int error; /* 0 or an errno */
};

/* On an unfiltered thread, because a new thread inherits the filter of the one that makes it. */
static void create_thread(void *payload)
{
    struct creation *creation = payload;
    pthread_attr_t attr;
    pthread_t thread;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    creation->error = pthread_create(&thread, &attr, thread_main, creation->pool);
    (void)pthread_attr_destroy(&attr);
}

/* Make a thread that `nthreads` counts already.  0 or an errno. */
static int add_thread(struct al_job_pool *pool)
{
    struct creation creation = { .pool = pool };

    al_proc_run_unfiltered(create_thread, &creation);
    if (creation.error) {
        (void)pthread_mutex_lock(&pool->lock);
        pool->nthreads--;
        (void)pthread_mutex_unlock(&pool->lock);
    }
    return creation.error;
}

static void clear(struct al_job_pool *pool)
{
    (void)pthread_mutex_destroy(&pool->lock);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_cond_destroy(&pool->gone);
    free(pool);
}

int al_job_pool_new(size_t threads_max, const struct al_lane_limits *limits,
                    struct al_job_pool **ret_pool, struct al_error *err)
{
    struct al_job_pool *pool = al_calloc(1, sizeof(*pool));
    int error;

    pool->threads_max = threads_max;
    pool->last = &pool->first;
    pool->lanes.limits = *limits;
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

/* Caller holds the lock.  Jobs that could run, but not more than one beyond the idle threads. */
static size_t count_ready(const struct al_job_pool *pool)
{
    const size_t max = pool->nidle + 1;
    size_t count = 0;

    for (const struct al_job *job = pool->first; job && count < max; job = job->next)
        count++;
    return count + al_lanes_count_ready(&pool->lanes, max - count);
}

/* Caller holds the lock, which this gives back: have a thread look for jobs. */
static void wake_and_unlock(struct al_job_pool *pool)
{
    const size_t ready = count_ready(pool);
    const bool adds = ready > pool->nidle && pool->nthreads < pool->threads_max;

    pool->nthreads += adds;
    if (ready)
        (void)pthread_cond_signal(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    if (adds)
        (void)add_thread(pool); /* without it the job waits for another thread */
}

bool al_job_pool_submit(struct al_job_pool *pool, struct al_job *job)
{
    (void)pthread_mutex_lock(&pool->lock);
    if (job->owner && !al_lanes_add(&pool->lanes, job)) {
        (void)pthread_mutex_unlock(&pool->lock);
        return false;
    }
    if (!job->owner) {
        job->next = NULL;
        *pool->last = job;
        pool->last = &job->next;
    }
    wake_and_unlock(pool);
    return true;
}

void al_job_pool_leave(struct al_job_pool *pool, struct al_job *job)
{
    (void)pthread_mutex_lock(&pool->lock);
    al_lanes_leave(&pool->lanes, job);
    wake_and_unlock(pool);
}

void al_job_pool_free(struct al_job_pool *pool)
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
