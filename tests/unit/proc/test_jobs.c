// SPDX-License-Identifier: Apache-2.0
/* proc/jobs.c: jobs are limited and first come first served, and waiting can be cancelled. */
#include "proc/proc.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "tests/unit/proc/lib.h"

struct taker {
    pthread_t thread;
    struct al_cancel *cancel;
    atomic_int tid;
    int r;
    int place; /* in the order in which jobs were granted */
};

static atomic_int served;

static void *take_a_job(void *payload)
{
    struct taker *self = payload;
    struct al_error err = AL_ERROR_INIT;

    atomic_store(&self->tid, gettid());
    self->r = al_proc_acquire_job(self->cancel, &err);
    al_error_clear(&err);
    if (self->r < 0)
        return NULL;
    self->place = atomic_fetch_add(&served, 1);
    al_proc_release_job();
    return NULL;
}

/* Whether a thread waits in poll(): the kernel names the call a thread sleeps in. */
static bool sleeps_in_poll(int tid)
{
    char path[64], text[32] = "";
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (read(fd, text, sizeof(text) - 1) <= 0)
        text[0] = '\0';
    close(fd);
#ifdef SYS_poll
    if (strtol(text, NULL, 10) == SYS_poll)
        return true;
#endif
    return strtol(text, NULL, 10) == SYS_ppoll;
}

static void start_waiting(struct taker *taker)
{
    assert_int_equal(pthread_create(&taker->thread, NULL, take_a_job, taker), 0);
    while (!atomic_load(&taker->tid) || !sleeps_in_poll(atomic_load(&taker->tid)))
        sched_yield();
}

static void start_taker(struct taker *taker, struct al_cancel *cancel)
{
    *taker = (struct taker){ .cancel = cancel, .place = -1 };
    start_waiting(taker);
}

static void join(struct taker *taker)
{
    assert_int_equal(pthread_join(taker->thread, NULL), 0);
}

static void serves_in_order_of_arrival(void **state)
{
    struct taker takers[5];

    (void)state;
    al_proc_set_jobs(1);
    atomic_store(&served, 0);
    assert_int_equal(al_proc_acquire_job(NULL, NULL), 0);
    for (size_t i = 0; i < COUNT(takers); i++)
        start_taker(&takers[i], NULL);
    assert_int_equal(atomic_load(&served), 0);
    al_proc_release_job();
    for (size_t i = 0; i < COUNT(takers); i++) {
        join(&takers[i]);
        assert_int_equal(takers[i].r, 0);
        assert_int_equal(takers[i].place, i);
    }
}

static void a_cancelled_one_leaves_the_queue(void **state)
{
    struct al_cancel *cancel = al_cancel_new();
    struct taker takers[3];
    int before = count_descriptors();

    (void)state;
    /* The middle, then the end of the queue: both ways out of a list. */
    for (size_t leaver = 1; leaver <= 2; leaver++) {
        al_auto(al_cancel_unrefp) struct al_cancel *gone = al_cancel_new();

        atomic_store(&served, 0);
        assert_int_equal(al_proc_acquire_job(NULL, NULL), 0);
        for (size_t i = 0; i < COUNT(takers); i++)
            start_taker(&takers[i], i == leaver ? gone : cancel);
        al_cancel_fire(gone);
        join(&takers[leaver]);
        assert_int_equal(takers[leaver].r, AL_ERR_CANCELLED);
        assert_int_equal(atomic_load(&served), 0);
        al_proc_release_job();
        for (size_t i = 0; i < COUNT(takers); i++) {
            if (i != leaver)
                join(&takers[i]);
        }
        assert_int_equal(atomic_load(&served), 2);
    }
    al_cancel_unref(cancel);
    assert_int_equal(count_descriptors(), before - 1);
}

static void refuses_one_that_is_cancelled_already(void **state)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    al_cancel_fire(cancel);
    assert_int_equal(al_proc_acquire_job(cancel, &err), AL_ERR_CANCELLED);
    assert_string_equal(err.message, "Cancelled");
    assert_int_equal(al_proc_acquire_job(NULL, NULL), 0); /* the job is still free */
    al_proc_release_job();
}

static void more_slots_serve_those_who_wait(void **state)
{
    struct taker taker;

    (void)state;
    al_proc_set_jobs(0); /* at least one */
    assert_int_equal(al_proc_acquire_job(NULL, NULL), 0);
    start_taker(&taker, NULL);
    al_proc_set_jobs(2);
    join(&taker);
    assert_int_equal(taker.r, 0);
    al_proc_release_job();
    al_proc_set_jobs(1);
}

static void one_that_lasts_makes_room(void **state)
{
    struct taker takers[3];

    (void)state;
    al_proc_set_jobs(1);
    atomic_store(&served, 0);
    assert_int_equal(al_proc_acquire_job(NULL, NULL), 0);
    for (size_t i = 0; i < COUNT(takers); i++)
        start_taker(&takers[i], NULL);
    assert_int_equal(atomic_load(&served), 0);
    al_proc_release_job();
    al_proc_release_job(); /* it had one */
    for (size_t i = 0; i < COUNT(takers); i++) {
        join(&takers[i]);
        assert_int_equal(takers[i].place, i);
    }
    al_proc_release_job();
}

/* Runs until its input ends. */
static void *run_a_reader(void *payload)
{
    struct al_proc_result result = { .exit_code = -1 };
    struct al_proc_spec spec = SHELL_SPEC("read line");

    spec.in_fd = *(const int *)payload;
    (void)al_proc_run(&spec, &result, NULL);
    return NULL;
}

static void a_child_that_lasts_makes_room(void **state)
{
    const uint64_t before = al_proc_started();
    struct al_proc_result result = { .exit_code = -1 };
    const struct al_proc_spec spec = SHELL_SPEC("exit 3");
    pthread_t reader;
    int ends[2];

    (void)state;
    al_proc_set_jobs(1);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(pthread_create(&reader, NULL, run_a_reader, &ends[0]), 0);
    while (al_proc_started() == before)
        sched_yield();
    assert_int_equal(al_proc_run(&spec, &result, NULL), 0);
    assert_int_equal(result.exit_code, 3);
    close(ends[1]);
    assert_int_equal(pthread_join(reader, NULL), 0);
    close(ends[0]);
}

enum { THREADS = 8, RUNS = 25 };

struct spawner {
    pthread_t thread;
    int good;
};

static void *spawn_many(void *payload)
{
    struct spawner *self = payload;

    for (int i = 0; i < RUNS; i++) {
        const struct al_confinement sandbox = { .exec_once = i % 2, .no_sockets = i % 3 == 0 };
        struct al_buffer out = { .max_bytes = 100 };
        struct al_proc_result result = { .exit_code = -1 };
        struct al_proc_spec spec = SHELL_SPEC("echo one; echo two; exit 7");

        spec.sandbox = &sandbox;
        spec.out = al_buffer_sink(&out);
        if (al_proc_run(&spec, &result, NULL) == 0 && result.exit_code == 7 &&
            strcmp(out.text.buf, "one\ntwo\n") == 0)
            self->good++;
        al_buffer_clear(&out);
    }
    return NULL;
}

static void many_threads_start_many_children(void **state)
{
    struct spawner spawners[THREADS] = { { .good = 0 } };
    int before = count_descriptors();

    (void)state;
    al_proc_set_jobs(4);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&spawners[i].thread, NULL, spawn_many, &spawners[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(spawners[i].thread, NULL), 0);
        assert_int_equal(spawners[i].good, RUNS);
    }
    assert_int_equal(count_descriptors(), before);
    assert_no_children();
    al_proc_set_jobs(1);
}

static int set_up(void **state)
{
    (void)state;
    (void)root_fd();
    return al_proc_init("/bin/sh", NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(serves_in_order_of_arrival),
        cmocka_unit_test(a_cancelled_one_leaves_the_queue),
        cmocka_unit_test(refuses_one_that_is_cancelled_already),
        cmocka_unit_test(more_slots_serve_those_who_wait),
        cmocka_unit_test(one_that_lasts_makes_room),
        cmocka_unit_test(a_child_that_lasts_makes_room),
        cmocka_unit_test(many_threads_start_many_children),
    };

    return cmocka_run_group_tests_name("proc/jobs", tests, set_up, NULL);
}
