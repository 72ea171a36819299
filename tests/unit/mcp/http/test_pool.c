// SPDX-License-Identifier: Apache-2.0
/* mcp/http/pool.h: threads that jobs hold, and what an owner whose jobs never end leaves to others.
 */
#include "mcp/http/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "tests/lib/assert.h"
#include "util/mem.h"

static const char one, two; /* owners */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned begun, ended; /* jobs of `one`, jobs of others */
static bool open;

struct work {
    struct al_job job;
    struct al_job_pool *pool;
};

/* Runs until the gate is open. */
static void hold(struct al_job *job)
{
    struct work *work = (struct work *)job;

    (void)pthread_mutex_lock(&lock);
    begun++;
    (void)pthread_cond_broadcast(&changed);
    while (!open)
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
    al_job_pool_leave(work->pool, job);
    free(work);
}

static void pass(struct al_job *job)
{
    struct work *work = (struct work *)job;

    if (job->owner)
        al_job_pool_leave(work->pool, job);
    free(work);
    (void)pthread_mutex_lock(&lock);
    ended++;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

static bool submit(struct al_job_pool *pool, void (*run)(struct al_job *), const char *owner,
                   const char *session)
{
    struct work *work = al_calloc(1, sizeof(*work));

    work->job = (struct al_job){ .run = run, .owner = owner, .session = session };
    work->pool = pool;
    if (al_job_pool_submit(pool, &work->job))
        return true;
    free(work);
    return false;
}

static void wait_for(const unsigned *counter, unsigned value)
{
    (void)pthread_mutex_lock(&lock);
    while (*counter < value)
        (void)pthread_cond_wait(&changed, &lock);
    assert_int_equal(*counter, value);
    (void)pthread_mutex_unlock(&lock);
}

static struct al_job_pool *start(size_t threads, size_t jobs, size_t running)
{
    const struct al_lane_limits limits = { .jobs = jobs, .running = running };
    struct al_job_pool *pool = NULL;

    begun = ended = 0;
    open = false;
    assert_int_equal(al_job_pool_new(threads, &limits, &pool, NULL), 0);
    return pool;
}

static void finish(struct al_job_pool *pool)
{
    (void)pthread_mutex_lock(&lock);
    open = true;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    al_job_pool_free(pool);
}

/* As many of its jobs run as may, the others wait; those of others and of nobody are run. */
static void an_owner_has_its_share(void **state)
{
    struct al_job_pool *pool = start(4, 9, 3);

    (void)state;
    for (unsigned i = 0; i < 9; i++)
        assert_true(submit(pool, hold, &one, NULL));
    wait_for(&begun, 3);
    for (unsigned i = 1; i <= 20; i++) {
        assert_true(submit(pool, pass, i % 3 ? &two : NULL, i % 2 ? "s" : NULL));
        wait_for(&ended, i);
    }
    assert_int_equal(begun, 3);
    finish(pool);
    assert_int_equal(begun, 9);
}

/* One below the limit, at it, and above it; a job that has ended makes room. */
static void an_owner_has_so_many_jobs(void **state)
{
    struct al_job_pool *pool = start(4, 5, 3);

    (void)state;
    for (unsigned i = 1; i <= 7; i++)
        assert_int_equal(submit(pool, hold, &one, NULL), i <= 5);
    for (unsigned i = 1; i <= 6; i++) {
        assert_true(submit(pool, pass, &two, NULL));
        wait_for(&ended, i);
    }
    finish(pool);
    assert_int_equal(begun, 5);
}

/* Jobs of one session hold one thread. */
static void a_busy_session_holds_one_thread(void **state)
{
    struct al_job_pool *pool = start(2, 9, 0);

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        assert_true(submit(pool, hold, &one, "s"));
    wait_for(&begun, 1);
    assert_true(submit(pool, pass, &one, "t"));
    wait_for(&ended, 1);
    assert_int_equal(begun, 1);
    finish(pool);
    assert_int_equal(begun, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_has_its_share),
        cmocka_unit_test(an_owner_has_so_many_jobs),
        cmocka_unit_test(a_busy_session_holds_one_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
