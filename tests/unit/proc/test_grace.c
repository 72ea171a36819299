// SPDX-License-Identifier: Apache-2.0
/* proc/proc.h: a child with grace_ms gets SIGTERM first, to remove its lock files. */
#include <pthread.h>
#include <sys/stat.h>

#include "tests/lib/tmpdir.h"
#include "tests/unit/proc/lib.h"

/* Creates a file like a lock file of git, and removes it on SIGTERM. */
#define TIDY     "trap 'rm held; exit 0' TERM; : >held; echo . >up; while :; do :; done"
#define STUBBORN "trap '' TERM; : >held; echo . >up; while :; do :; done"

/* How the child is ended. */
struct ending {
    struct tmpdir *dir;
    struct al_cancel *cancel; /* NULL: al_proc_kill_all() */
};

static void *end_when_up(void *payload)
{
    const struct ending *ending = payload;
    int fd = openat(ending->dir->fd, "up", O_RDONLY | O_CLOEXEC);
    char c;

    if (read(fd, &c, 1) == 1 && ending->cancel)
        al_cancel_fire(ending->cancel);
    else
        al_proc_kill_all();
    close(fd);
    return NULL;
}

/* Run the script until it is ended.  True: the file is still there. */
static bool holds_after(const char *script, uint32_t grace_ms, struct al_cancel *cancel)
{
    struct tmpdir *dir = tmpdir_new();
    struct ending ending = { .dir = dir, .cancel = cancel };
    struct al_proc_spec spec = SHELL_SPEC(script);
    struct al_proc_result result;
    al_auto(al_freep) char *held = NULL;
    pthread_t thread;
    int r;

    assert_int_equal(mkfifoat(dir->fd, "up", 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_when_up, &ending), 0);
    spec.cwd_fd = dir->fd;
    spec.cancel = cancel;
    spec.grace_ms = grace_ms;
    r = al_proc_run(&spec, &result, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(r, cancel ? AL_ERR_CANCELLED : 0);
    assert_no_children();
    held = tmpdir_read(dir, "held");
    tmpdir_free(dir);
    return held != NULL;
}

static void a_cancelled_child_puts_away_what_it_holds(void **state)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();

    (void)state;
    assert_false(holds_after(TIDY, LONG_MS, cancel));
}

static void without_grace_it_has_no_time_to(void **state)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();

    (void)state;
    assert_true(holds_after(TIDY, 0, cancel));
}

static void one_that_does_not_listen_is_killed_after_its_grace(void **state)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();

    (void)state;
    assert_true(holds_after(STUBBORN, 1, cancel));
}

static void a_child_out_of_time_puts_away_what_it_holds(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct al_proc_spec spec = SHELL_SPEC("trap 'echo away; exit 0' TERM; echo up; "
                                          "while :; do :; done");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    spec.timeout_ms = 2000;
    spec.grace_ms = LONG_MS;
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_TIMEOUT);
    assert_string_equal(got.out.text.buf, "up\naway\n");
    tmpdir_free(dir);
}

static void kill_all_gives_each_child_its_grace(void **state)
{
    (void)state;
    assert_false(holds_after(TIDY, LONG_MS, NULL));
    assert_true(holds_after(TIDY, 0, NULL));
    assert_true(holds_after(STUBBORN, 1, NULL));
}

static int set_up(void **state)
{
    (void)state;
    (void)root_fd();
    return al_proc_init(NULL, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_child_puts_away_what_it_holds),
        cmocka_unit_test(without_grace_it_has_no_time_to),
        cmocka_unit_test(one_that_does_not_listen_is_killed_after_its_grace),
        cmocka_unit_test(a_child_out_of_time_puts_away_what_it_holds),
        cmocka_unit_test(kill_all_gives_each_child_its_grace),
    };

    return cmocka_run_group_tests_name("proc/grace", tests, set_up, NULL);
}
