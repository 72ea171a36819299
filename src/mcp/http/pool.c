// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proc/proc.h"
#include "util/mem.h"

/* The jobs of one owner.  A session is in one of the lists with its first job only; the others are
 * behind that one. */
struct al_lane {
    struct al_lane *next;
    const void *owner;
    size_t njobs, nbytes;
    size_t nrunning, nlarge; /* of those that run */
    struct al_job *waiting;  /* first in, first out */
    struct al_job *running;
};

static struct al_lane *find_lane(const struct al_lanes *lanes, const void *owner)
{
    struct al_lane *lane = lanes->first;

    while (lane && lane->owner != owner)
        lane = lane->next;
    return lane;
}

static void append_lane(struct al_lanes *lanes, struct al_lane *lane)
{
    struct al_lane **at = &lanes->first;

    while (*at)
        at = &(*at)->next;
    lane->next = NULL;
    *at = lane;
}

static void remove_lane(struct al_lanes *lanes, const struct al_lane *lane)
{
    struct al_lane **at = &lanes->first;

    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
}

static struct al_lane *add_lane(struct al_lanes *lanes, const void *owner)
{
    struct al_lane *lane = al_calloc(1, sizeof(*lane));

    lane->owner = owner;
    append_lane(lanes, lane);
    return lane;
}

static void append(struct al_job **list, struct al_job *job)
{
    while (*list)
        list = &(*list)->next;
    job->next = NULL;
    *list = job;
}

static void unlink_job(struct al_job **list, struct al_job *job)
{
    while (*list != job)
        list = &(*list)->next;
    *list = al_take(&job->next);
}

static struct al_job *find_session(struct al_job *list, const char *session)
{
    while (list && (!list->session || strcmp(list->session, session) != 0))
        list = list->next;
    return list;
}

/* The job of the same session that this one has to wait for; NULL: none. */
static struct al_job *find_ahead(const struct al_lane *lane, const struct al_job *job)
{
    struct al_job *ahead = NULL;

    if (job->session)
        ahead = find_session(lane->running, job->session);
    if (job->session && !ahead)
        ahead = find_session(lane->waiting, job->session);
    return ahead;
}

bool al_lanes_add(struct al_lanes *lanes, struct al_job *job)
{
    struct al_lane *lane = find_lane(lanes, job->owner);
    struct al_job *ahead;

    if (lane ? lane->njobs >= lanes->limits.jobs || job->bytes > lanes->limits.bytes - lane->nbytes
             : job->bytes > lanes->limits.bytes)
        return false;
    if (!lane)
        lane = add_lane(lanes, job->owner);
    lane->njobs++;
    lane->nbytes += job->bytes;
    job->lane = lane;
    job->next = job->behind = job->behind_last = NULL;
    ahead = find_ahead(lane, job);
    if (!ahead)
        append(&lane->waiting, job);
    else if (ahead->behind)
        ahead->behind_last->next = job;
    else
        ahead->behind = job;
    if (ahead)
        ahead->behind_last = job;
    return true;
}

static bool is_large(const struct al_lanes *lanes, const struct al_job *job)
{
    return job->bytes > lanes->limits.large_bytes;
}

static bool has_thread(const struct al_lanes *lanes, size_t nrunning)
{
    return !lanes->limits.running || nrunning < lanes->limits.running;
}

/* The job of a lane that may run; NULL: none. */
static struct al_job *find_ready(const struct al_lanes *lanes, const struct al_lane *lane)
{
    struct al_job *job = has_thread(lanes, lane->nrunning) ? lane->waiting : NULL;

    while (job && lane->nlarge && is_large(lanes, job))
        job = job->next;
    return job;
}

struct al_job *al_lanes_take(struct al_lanes *lanes)
{
    for (struct al_lane *lane = lanes->first; lane; lane = lane->next) {
        struct al_job *job = find_ready(lanes, lane);

        if (!job)
            continue;
        unlink_job(&lane->waiting, job);
        append(&lane->running, job);
        lane->nrunning++;
        lane->nlarge += is_large(lanes, job);
        remove_lane(lanes, lane);
        append_lane(lanes, lane);
        return job;
    }
    return NULL;
}

/* The next job of the session takes the place of the one that has ended. */
static void promote(struct al_lane *lane, const struct al_job *job)
{
    struct al_job *first = job->behind;

    if (!first)
        return;
    first->behind = first->next;
    first->behind_last = first->behind ? job->behind_last : NULL;
    append(&lane->waiting, first);
}

void al_lanes_leave(struct al_lanes *lanes, struct al_job *job)
{
    struct al_lane *lane = job->lane;

    unlink_job(&lane->running, job);
    lane->nrunning--;
    lane->nlarge -= is_large(lanes, job);
    lane->njobs--;
    lane->nbytes -= job->bytes;
    promote(lane, job);
    if (lane->njobs)
        return;
    remove_lane(lanes, lane);
    free(lane);
}

static size_t lane_count_ready(const struct al_lanes *lanes, const struct al_lane *lane, size_t max)
{
    size_t count = 0, nlarge = lane->nlarge;

    for (const struct al_job *job = lane->waiting;
         job && count < max && has_thread(lanes, lane->nrunning + count); job = job->next) {
        if (nlarge && is_large(lanes, job))
            continue;
        nlarge += is_large(lanes, job);
        count++;
    }
    return count;
}

size_t al_lanes_count_ready(const struct al_lanes *lanes, size_t max)
{
    size_t count = 0;

    for (const struct al_lane *lane = lanes->first; lane && count < max; lane = lane->next)
        count += lane_count_ready(lanes, lane, max - count);
    return count;
}

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
