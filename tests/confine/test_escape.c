// SPDX-License-Identifier: Apache-2.0
/* A process that escapes exec-once: injected native code in git that knows the filter could create
 * one. */
#include <pthread.h>
#include <sched.h>

#include "tests/lib/tmpdir.h"
#include "tests/unit/proc/lib.h"

static const char *probe;

static const struct al_confinement confined = { .exec_once = true, .no_sockets = true };

/* Runs the probe beside other children. */
static int run_probe(const struct tmpdir *dir, const char *action, struct al_cancel *cancel)
{
    const char *const argv[] = { "probe", action, NULL }, *const envp[] = { NULL };
    const struct al_proc_spec spec = {
        .program = probe,
        .argv = argv,
        .envp = envp,
        .cwd_fd = dir->fd,
        .sandbox = &confined,
        .cancel = cancel,
        .timeout_ms = LONG_MS,
    };
    struct al_proc_result result;

    return al_proc_run(&spec, &result, NULL);
}

struct waiting {
    const struct tmpdir *dir;
    struct al_cancel *cancel;
    int r;
};

static void *wait_in_a_child(void *payload)
{
    struct waiting *waiting = payload;

    waiting->r = run_probe(waiting->dir, "wait", waiting->cancel);
    return NULL;
}

static size_t count_children(void)
{
    struct al_pids pids = { .items = NULL };
    size_t count;

    al_pids_add_scanned(&pids, getpid());
    count = pids.count;
    al_pids_clear(&pids);
    return count;
}

/* An escaped process is also found while another child runs for a long time. */
static void who_escapes_is_found_beside_others(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct waiting waiting = { .dir = dir, .cancel = al_cancel_new() };
    pthread_t thread;
    size_t left;

    (void)state;
    al_proc_set_jobs(2);
    assert_int_equal(pthread_create(&thread, NULL, wait_in_a_child, &waiting), 0);
    while (count_children() == 0)
        (void)sched_yield();
    for (int round = 0; round < 2; round++) { /* the second comes right after a sweep */
        assert_int_equal(run_probe(dir, "escape", NULL), 0);
        left = count_children();
        for (int ended = 0; left != 1 && ended < 20000; ended++) {
            assert_int_equal(run_probe(dir, "thread", NULL), 0);
            left = count_children();
        }
        assert_int_equal(left, 1); /* the one that waits */
    }
    al_cancel_fire(waiting.cancel);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiting.r, AL_ERR_CANCELLED);
    al_cancel_unref(waiting.cancel);
    assert_no_children();
    tmpdir_free(dir);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_escapes_is_found_beside_others),
    };

    if (argc != 2 || al_proc_init(argv[1], NULL) < 0)
        return 1;
    probe = argv[1];
    return cmocka_run_group_tests_name("confine/escape", tests, NULL, NULL);
}
