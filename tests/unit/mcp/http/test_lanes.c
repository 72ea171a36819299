// SPDX-License-Identifier: Apache-2.0
/* mcp/http/lanes.h: whose turn it is, and the limits of each owner. */
#include "mcp/http/pool.h"

#include "tests/lib/assert.h"

#define LARGE 100

static const char one, two; /* owners */

static struct al_lanes make(size_t jobs, size_t bytes, size_t running)
{
    return (struct al_lanes){
        .limits = { .jobs = jobs, .bytes = bytes, .running = running, .large_bytes = LARGE }
    };
}

static struct al_job job_of(const char *owner, const char *session, size_t bytes)
{
    return (struct al_job){ .owner = owner, .session = session, .bytes = bytes };
}

/* Let all jobs that are left run. */
static void empty(struct al_lanes *lanes)
{
    for (struct al_job *job; (job = al_lanes_take(lanes));)
        al_lanes_leave(lanes, job);
    assert_null(lanes->first);
}

static void owners_take_turns(void **state)
{
    struct al_lanes lanes = make(9, 9, 9);
    struct al_job a[3], b[2];

    (void)state;
    for (size_t i = 0; i < COUNT(a); i++) {
        a[i] = job_of(&one, NULL, 0);
        assert_true(al_lanes_add(&lanes, &a[i]));
    }
    for (size_t i = 0; i < COUNT(b); i++) {
        b[i] = job_of(&two, NULL, 0);
        assert_true(al_lanes_add(&lanes, &b[i]));
    }
    assert_ptr_equal(al_lanes_take(&lanes), &a[0]);
    assert_ptr_equal(al_lanes_take(&lanes), &b[0]);
    assert_ptr_equal(al_lanes_take(&lanes), &a[1]);
    assert_ptr_equal(al_lanes_take(&lanes), &b[1]);
    assert_ptr_equal(al_lanes_take(&lanes), &a[2]);
    assert_null(al_lanes_take(&lanes));
    for (size_t i = 0; i < COUNT(a); i++)
        al_lanes_leave(&lanes, &a[i]);
    for (size_t i = 0; i < COUNT(b); i++)
        al_lanes_leave(&lanes, &b[i]);
    assert_null(lanes.first);
}

/* Waiting and running jobs count, those of others do not. */
static void jobs_are_limited(void **state)
{
    struct al_lanes lanes = make(3, 0, 1);
    struct al_job jobs[4], other = job_of(&two, NULL, 0);

    (void)state;
    for (size_t i = 0; i < COUNT(jobs); i++) {
        jobs[i] = job_of(&one, i % 2 ? "s" : NULL, 0);
        assert_int_equal(al_lanes_add(&lanes, &jobs[i]), i < 3);
    }
    assert_true(al_lanes_add(&lanes, &other));
    assert_ptr_equal(al_lanes_take(&lanes), &jobs[0]);
    assert_false(al_lanes_add(&lanes, &jobs[3]));
    al_lanes_leave(&lanes, &jobs[0]);
    assert_true(al_lanes_add(&lanes, &jobs[3]));
    empty(&lanes);
}

static void bytes_are_limited(void **state)
{
    struct al_lanes lanes = make(9, 100, 9);
    struct al_job first = job_of(&one, NULL, 40), second = job_of(&one, NULL, 60);
    struct al_job empty_one = job_of(&one, NULL, 0), little = job_of(&one, NULL, 1);
    struct al_job large = job_of(&one, NULL, 101), other = job_of(&two, NULL, 100);

    (void)state;
    assert_false(al_lanes_add(&lanes, &large));
    assert_null(lanes.first);
    assert_true(al_lanes_add(&lanes, &first));
    second.bytes = 61;
    assert_false(al_lanes_add(&lanes, &second));
    second.bytes = 60;
    assert_true(al_lanes_add(&lanes, &second));
    assert_false(al_lanes_add(&lanes, &little));
    assert_true(al_lanes_add(&lanes, &empty_one));
    assert_true(al_lanes_add(&lanes, &other));
    assert_ptr_equal(al_lanes_take(&lanes), &first);
    assert_false(al_lanes_add(&lanes, &little));
    al_lanes_leave(&lanes, &first);
    assert_true(al_lanes_add(&lanes, &little));
    empty(&lanes);
}

static void running_jobs_are_limited(void **state)
{
    struct al_lanes lanes = make(9, 0, 2);
    struct al_job jobs[4], other = job_of(&two, NULL, 0);

    (void)state;
    for (size_t i = 0; i < COUNT(jobs); i++) {
        jobs[i] = job_of(&one, NULL, 0);
        assert_int_equal(al_lanes_count_ready(&lanes, 9), i < 2 ? i : 2);
        assert_true(al_lanes_add(&lanes, &jobs[i]));
    }
    assert_int_equal(al_lanes_count_ready(&lanes, 1), 1);
    assert_int_equal(al_lanes_count_ready(&lanes, 9), 2);
    assert_ptr_equal(al_lanes_take(&lanes), &jobs[0]);
    assert_int_equal(al_lanes_count_ready(&lanes, 9), 1);
    assert_ptr_equal(al_lanes_take(&lanes), &jobs[1]);
    assert_null(al_lanes_take(&lanes));
    assert_true(al_lanes_add(&lanes, &other));
    assert_int_equal(al_lanes_count_ready(&lanes, 9), 1);
    assert_ptr_equal(al_lanes_take(&lanes), &other);
    al_lanes_leave(&lanes, &jobs[1]);
    assert_ptr_equal(al_lanes_take(&lanes), &jobs[2]);
    assert_null(al_lanes_take(&lanes));
    al_lanes_leave(&lanes, &jobs[0]);
    al_lanes_leave(&lanes, &jobs[2]);
    al_lanes_leave(&lanes, &other);
    empty(&lanes);
}

/* A job of a busy session waits behind it, and the others of its owner do not. */
static void sessions_run_one_after_the_other(void **state)
{
    struct al_lanes lanes = make(9, 0, 9);
    char again[] = "s";
    struct al_job s[] = { job_of(&one, "s", 0), job_of(&one, again, 0), job_of(&one, "s", 0),
                          job_of(&one, "s", 0) };
    struct al_job t = job_of(&one, "t", 0), none = job_of(&one, NULL, 0);
    struct al_job same_name = job_of(&two, "s", 0);

    (void)state;
    assert_true(al_lanes_add(&lanes, &s[0]));
    assert_true(al_lanes_add(&lanes, &s[1]));
    assert_true(al_lanes_add(&lanes, &t));
    assert_ptr_equal(al_lanes_take(&lanes), &s[0]);
    assert_true(al_lanes_add(&lanes, &s[2]));
    assert_true(al_lanes_add(&lanes, &none));
    assert_int_equal(al_lanes_count_ready(&lanes, 9), 2);
    assert_ptr_equal(al_lanes_take(&lanes), &t);
    assert_ptr_equal(al_lanes_take(&lanes), &none);
    assert_null(al_lanes_take(&lanes));
    assert_true(al_lanes_add(&lanes, &same_name));
    assert_ptr_equal(al_lanes_take(&lanes), &same_name);
    al_lanes_leave(&lanes, &t);
    assert_null(al_lanes_take(&lanes));
    al_lanes_leave(&lanes, &s[0]);
    assert_ptr_equal(al_lanes_take(&lanes), &s[1]);
    assert_true(al_lanes_add(&lanes, &s[3]));
    assert_null(al_lanes_take(&lanes));
    al_lanes_leave(&lanes, &s[1]);
    assert_ptr_equal(al_lanes_take(&lanes), &s[2]);
    al_lanes_leave(&lanes, &s[2]);
    assert_ptr_equal(al_lanes_take(&lanes), &s[3]);
    al_lanes_leave(&lanes, &s[3]);
    al_lanes_leave(&lanes, &none);
    al_lanes_leave(&lanes, &same_name);
    assert_null(lanes.first);
}

static void large_jobs_run_one_at_a_time(void **state)
{
    struct al_lanes lanes = make(9, 9 * LARGE, 9);
    struct al_job large[] = { job_of(&one, NULL, LARGE + 1), job_of(&one, NULL, LARGE + 1) };
    struct al_job small = job_of(&one, NULL, LARGE), other = job_of(&two, NULL, LARGE + 1);

    (void)state;
    assert_true(al_lanes_add(&lanes, &large[0]));
    assert_true(al_lanes_add(&lanes, &large[1]));
    assert_int_equal(al_lanes_count_ready(&lanes, 9), 1);
    assert_ptr_equal(al_lanes_take(&lanes), &large[0]);
    assert_int_equal(al_lanes_count_ready(&lanes, 9), 0);
    assert_null(al_lanes_take(&lanes));
    assert_true(al_lanes_add(&lanes, &small));
    assert_true(al_lanes_add(&lanes, &other));
    assert_int_equal(al_lanes_count_ready(&lanes, 9), 2);
    assert_ptr_equal(al_lanes_take(&lanes), &small);
    assert_ptr_equal(al_lanes_take(&lanes), &other);
    assert_null(al_lanes_take(&lanes));
    al_lanes_leave(&lanes, &large[0]);
    assert_ptr_equal(al_lanes_take(&lanes), &large[1]);
    al_lanes_leave(&lanes, &large[1]);
    al_lanes_leave(&lanes, &small);
    al_lanes_leave(&lanes, &other);
    assert_null(lanes.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_take_turns),
        cmocka_unit_test(jobs_are_limited),
        cmocka_unit_test(bytes_are_limited),
        cmocka_unit_test(running_jobs_are_limited),
        cmocka_unit_test(sessions_run_one_after_the_other),
        cmocka_unit_test(large_jobs_run_one_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
