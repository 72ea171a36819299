// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/pool.h: threads, gates and lanes. */
#include "serve/mcp/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/assert.h"

#define MAX 32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned begun, ended, threads;
static int order[MAX]; /* the tasks that have begun */
static bool may_end[MAX];

struct work {
    struct al_task task;
    struct al_pool *pool;
    int number;
};

/* Runs until it may end. */
static void run(struct al_task *task)
{
    static _Thread_local bool counted;
    struct work *work = (struct work *)task;

    (void)pthread_mutex_lock(&lock);
    threads += !counted;
    counted = true;
    order[begun++] = work->number;
    (void)pthread_cond_broadcast(&changed);
    while (!may_end[work->number])
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
    al_pool_leave(work->pool, task);
    (void)pthread_mutex_lock(&lock);
    ended++;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    free(work);
}

/* NULL: refused. */
static struct work *submit(struct al_pool *pool, int number, struct al_lane *lane, size_t bytes,
                           struct al_gate *first, struct al_gate *second)
{
    struct work *work = al_calloc(1, sizeof(*work));

    work->task =
        (struct al_task){ .run = run, .gates = { first, second }, .lane = lane, .bytes = bytes };
    work->pool = pool;
    work->number = number;
    if (al_pool_submit(pool, &work->task))
        return work;
    free(work);
    return NULL;
}

static void wait_for(const unsigned *counter, unsigned value)
{
    (void)pthread_mutex_lock(&lock);
    while (*counter < value)
        (void)pthread_cond_wait(&changed, &lock);
    assert_int_equal(*counter, value);
    (void)pthread_mutex_unlock(&lock);
}

/* Let a task end, and wait until it has. */
static void end(int number)
{
    const unsigned now = ended;

    (void)pthread_mutex_lock(&lock);
    may_end[number] = true;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    wait_for(&ended, now + 1);
}

static struct al_pool *start(size_t max)
{
    struct al_pool *pool = NULL;

    begun = ended = threads = 0;
    for (size_t i = 0; i < MAX; i++)
        may_end[i] = false;
    assert_int_equal(al_pool_new(max, &pool, NULL), 0);
    return pool;
}

/* What is left runs without a look at gates. */
static void finish(struct al_pool *pool, unsigned count)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MAX; i++)
        may_end[i] = true;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    al_pool_free(pool);
    assert_int_equal(ended, count);
}

static void there_are_as_many_threads_as_tasks_up_to_the_limit(void **state)
{
    struct al_pool *pool = start(3);

    (void)state;
    for (int i = 0; i < 5; i++)
        assert_non_null(submit(pool, i, NULL, 0, NULL, NULL));
    wait_for(&begun, 3);
    end(order[0]);
    wait_for(&begun, 4);
    assert_int_equal(order[3], 3);
    assert_int_equal(threads, 3);
    finish(pool, 5);
}

static void a_gate_lets_so_many_through(void **state)
{
    struct al_pool *pool = start(MAX);
    struct al_gate gate = { .max = 2 };

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_non_null(submit(pool, i, NULL, 0, &gate, NULL));
    assert_non_null(submit(pool, 4, NULL, 0, NULL, NULL));
    wait_for(&begun, 3); /* two, and the one without a gate */
    end(4);
    assert_int_equal(begun, 3);
    end(0);
    wait_for(&begun, 4);
    assert_int_equal(order[3], 2);
    finish(pool, 5);
}

/* It passes neither one that runs nor one that waits for something else. */
static void nothing_passes_in_order(void **state)
{
    struct al_pool *pool = start(MAX);
    struct al_gate turn = { .max = 1, .in_order = true }, busy = { .max = 1 };

    (void)state;
    assert_non_null(submit(pool, 0, NULL, 0, &busy, NULL));
    wait_for(&begun, 1);
    assert_non_null(submit(pool, 1, NULL, 0, &turn, &busy));
    assert_non_null(submit(pool, 2, NULL, 0, &turn, NULL));
    assert_non_null(submit(pool, 3, NULL, 0, NULL, NULL));
    wait_for(&begun, 2);
    assert_int_equal(order[1], 3);
    end(0);
    wait_for(&begun, 3);
    assert_int_equal(order[2], 1);
    end(1);
    wait_for(&begun, 4);
    assert_int_equal(order[3], 2);
    finish(pool, 4);
}

static void one_that_leaves_makes_room_and_may_come_back(void **state)
{
    struct al_pool *pool = start(MAX);
    struct al_gate gate = { .max = 1, .in_order = true };
    struct work *first, *third;

    (void)state;
    first = submit(pool, 0, NULL, 0, &gate, NULL);
    assert_non_null(submit(pool, 1, NULL, 0, &gate, NULL));
    third = submit(pool, 2, NULL, 0, &gate, NULL);
    wait_for(&begun, 1);
    al_pool_leave(pool, &first->task);
    al_pool_leave(pool, &first->task);
    wait_for(&begun, 2);
    al_pool_come_back(pool, &first->task); /* now two have begun */
    end(1);
    assert_int_equal(begun, 2);
    al_pool_leave(pool, &third->task); /* before it has begun: it waits no longer */
    wait_for(&begun, 3);
    end(0);
    finish(pool, 3);
    assert_int_equal(gate.running, 0);
}

/* One below the limit, at it, and above it; what has ended makes room. */
static void a_lane_has_so_many_tasks_and_bytes(void **state)
{
    struct al_pool *pool = start(MAX);
    struct al_lane lane = { .tasks_max = 3, .bytes_max = 100, .running = { .max = 9 } };
    struct al_lane other = { .tasks_max = 1, .bytes_max = 1, .running = { .max = 9 } };

    (void)state;
    assert_null(submit(pool, 9, &lane, 101, NULL, NULL));
    assert_non_null(submit(pool, 0, &lane, 40, NULL, NULL));
    assert_null(submit(pool, 9, &lane, 61, NULL, NULL));
    assert_non_null(submit(pool, 1, &lane, 60, NULL, NULL));
    assert_null(submit(pool, 9, &lane, 1, NULL, NULL));
    assert_non_null(submit(pool, 2, &lane, 0, NULL, NULL));
    assert_null(submit(pool, 9, &lane, 0, NULL, NULL));
    assert_non_null(submit(pool, 3, &other, 1, NULL, NULL));
    wait_for(&begun, 4);
    end(0);
    assert_non_null(submit(pool, 4, &lane, 40, NULL, NULL));
    finish(pool, 5);
    assert_int_equal(lane.ntasks + lane.nbytes, 0);
}

/* The one of which the fewest run comes first. */
static void lanes_take_turns(void **state)
{
    struct al_pool *pool = start(3);
    struct al_lane greedy = { .tasks_max = 9, .bytes_max = 9, .running = { .max = 3 } };
    struct al_lane other = { .tasks_max = 9, .bytes_max = 9, .running = { .max = 3 } };

    (void)state;
    for (int i = 0; i < 6; i++)
        assert_non_null(submit(pool, i, &greedy, 0, &greedy.running, NULL));
    wait_for(&begun, 3);
    assert_non_null(submit(pool, 6, &other, 0, &other.running, NULL));
    assert_non_null(submit(pool, 7, NULL, 0, NULL, NULL));
    end(0);
    wait_for(&begun, 4);
    assert_int_equal(order[3], 6);
    end(1);
    wait_for(&begun, 5);
    assert_int_equal(order[4], 7);
    end(2);
    wait_for(&begun, 6);
    assert_int_equal(order[5], 3);
    finish(pool, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_as_many_threads_as_tasks_up_to_the_limit),
        cmocka_unit_test(a_gate_lets_so_many_through),
        cmocka_unit_test(nothing_passes_in_order),
        cmocka_unit_test(one_that_leaves_makes_room_and_may_come_back),
        cmocka_unit_test(a_lane_has_so_many_tasks_and_bytes),
        cmocka_unit_test(lanes_take_turns),
    };

    return cmocka_run_group_tests_name("mcp/pool", tests, NULL, NULL);
}
