// SPDX-License-Identifier: Apache-2.0
/* proc/cancel.h: a token fires once, for every holder, and ends a child at any time. */
#include "proc/cancel.h"

#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

#include "tests/lib/tmpdir.h"
#include "tests/unit/proc/lib.h"

static bool readable(const struct al_cancel *cancel)
{
    struct pollfd fd = { .fd = al_cancel_fd(cancel), .events = POLLIN };

    return poll(&fd, 1, 0) == 1;
}

static void stays_readable_once_fired(void **state)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();

    (void)state;
    assert_false(al_cancel_fired(cancel));
    assert_false(readable(cancel));
    al_cancel_fire(cancel);
    al_cancel_fire(cancel);
    assert_true(al_cancel_fired(cancel));
    assert_true(readable(cancel));
    assert_true(readable(cancel));
}

static void none_is_never_fired(void **state)
{
    (void)state;
    assert_false(al_cancel_fired(NULL));
    assert_int_equal(al_cancel_fd(NULL), -1);
    al_cancel_unref(NULL);
}

static void lives_until_its_last_reference_is_dropped(void **state)
{
    int before = count_descriptors();
    struct al_cancel *cancel = al_cancel_new();
    struct al_cancel *second = al_cancel_ref(cancel);

    (void)state;
    al_cancel_unref(cancel);
    al_cancel_fire(second);
    assert_true(al_cancel_fired(second));
    al_cancel_unref(second);
    assert_int_equal(count_descriptors(), before);
}

static void an_inner_token_fires_with_the_outer_one(void **state)
{
    int before = count_descriptors();
    struct al_cancel *outer = al_cancel_new();
    struct al_cancel *inner = al_cancel_new_within(outer);

    (void)state;
    assert_false(al_cancel_fired(inner));
    assert_false(readable(inner));
    al_cancel_fire(outer);
    assert_true(al_cancel_fired(inner));
    assert_true(readable(inner));
    al_cancel_unref(outer); /* the inner one keeps it */
    assert_true(al_cancel_fired(inner));
    al_cancel_unref(inner);
    assert_int_equal(count_descriptors(), before);
}

static void an_inner_token_fires_alone(void **state)
{
    al_auto(al_cancel_unrefp) struct al_cancel *outer = al_cancel_new();
    al_auto(al_cancel_unrefp) struct al_cancel *inner = al_cancel_new_within(outer);
    al_auto(al_cancel_unrefp) struct al_cancel *single = al_cancel_new_within(NULL);

    (void)state;
    al_cancel_fire(inner);
    assert_true(al_cancel_fired(inner));
    assert_true(readable(inner));
    assert_false(al_cancel_fired(outer));
    assert_false(readable(outer));
    assert_false(readable(single));
    al_cancel_fire(single);
    assert_true(readable(single));
}

static void nothing_starts_once_fired(void **state)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    struct al_proc_spec spec = SHELL_SPEC("echo ran");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };
    uint64_t before = al_proc_started();

    (void)state;
    spec.cancel = cancel;
    got = run(&spec);
    assert_int_equal(got.r, 0);
    outcome_clear(&got);
    al_cancel_fire(cancel);
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_CANCELLED);
    assert_string_equal(got.err.message, "Cancelled");
    assert_int_equal(got.out.total, 0);
    assert_int_equal(al_proc_started(), before + 1);
}

struct firing {
    const struct tmpdir *dir;
    struct al_cancel *cancel;
};

/* Fires once the child has written to the fifo. */
static void *fire_when_up(void *payload)
{
    const struct firing *firing = payload;
    int fd = openat(firing->dir->fd, "up", O_RDONLY | O_CLOEXEC);

    char c;

    if (read(fd, &c, 1) == 1)
        al_cancel_fire(firing->cancel);
    close(fd);
    return NULL;
}

static void ends_a_child_at_work(void **state)
{
    static const char *const scripts[] = {
        "echo . >up; exec sleep 600",
        "trap '' TERM INT HUP; echo . >up; while :; do :; done",
        "exec >&- 2>&-; echo . >up; exec sleep 600",
        "echo . >up; (setsid sleep 600 &) ; exec sleep 600",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(scripts); i++) {
        al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
        struct tmpdir *dir = tmpdir_new();
        struct firing firing = { .dir = dir, .cancel = cancel };
        struct al_proc_spec spec = SHELL_SPEC(scripts[i]);
        struct outcome got = { .r = 0 };
        pthread_t thread;

        print_message("  %s\n", scripts[i]);
        assert_int_equal(mkfifoat(dir->fd, "up", 0600), 0);
        assert_int_equal(pthread_create(&thread, NULL, fire_when_up, &firing), 0);
        spec.cwd_fd = dir->fd;
        spec.cancel = cancel;
        got.r = al_proc_run(&spec, &got.result, &got.err);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(got.r, AL_ERR_CANCELLED);
        assert_string_equal(got.err.message, "Cancelled");
        assert_no_children();
        outcome_clear(&got);
        tmpdir_free(dir);
    }
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
        cmocka_unit_test(stays_readable_once_fired),
        cmocka_unit_test(none_is_never_fired),
        cmocka_unit_test(lives_until_its_last_reference_is_dropped),
        cmocka_unit_test(an_inner_token_fires_with_the_outer_one),
        cmocka_unit_test(an_inner_token_fires_alone),
        cmocka_unit_test(nothing_starts_once_fired),
        cmocka_unit_test(ends_a_child_at_work),
    };

    return cmocka_run_group_tests_name("proc/cancel", tests, set_up, NULL);
}
