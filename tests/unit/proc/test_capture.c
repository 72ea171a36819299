// SPDX-License-Identifier: Apache-2.0
/* proc/proc.h: a child's output is kept up to its cap, and its deadline ends it. */
#include "tests/unit/proc/lib.h"

static void keeps_output_up_to_the_cap_and_stops_beyond(void **state)
{
    const struct al_proc_spec spec = SHELL_SPEC("printf 0123456789; exit 1");

    (void)state;
    for (size_t cap = 9; cap <= 11; cap++) {
        al_auto(outcome_clear) struct outcome got = run_up_to(&spec, cap);

        print_message("  cap %zu\n", cap);
        assert_int_equal(got.r, 0);
        assert_int_equal(got.result.stopped, cap < 10);
        assert_int_equal(got.result.exit_code, cap < 10 ? -1 : 1);
        assert_int_equal(got.out.text.len, cap < 10 ? cap : 10);
        assert_int_equal(got.out.total, 10);
    }
}

static void stops_a_child_that_never_stops_writing(void **state)
{
    const struct al_proc_spec spec = SHELL_SPEC("trap '' PIPE; while :; do echo more; done");
    al_auto(outcome_clear) struct outcome got = run_up_to(&spec, 300000);

    (void)state;
    assert_int_equal(got.r, 0);
    assert_true(got.result.stopped);
    assert_int_equal(got.result.exit_code, -1);
    assert_int_equal(got.result.signal, 0);
    assert_int_equal(got.out.text.len, 300000);
    assert_true(got.out.total > got.out.text.len);
}

static void drops_errors_beyond_the_cap_without_stopping(void **state)
{
    const struct al_proc_spec spec =
        SHELL_SPEC("head -c 500000 /dev/zero >&2; echo done; head -c 500000 /dev/zero >&2");
    al_auto(outcome_clear) struct outcome got = run_up_to(&spec, 1000);

    (void)state;
    assert_int_equal(got.r, 0);
    assert_false(got.result.stopped);
    assert_string_equal(got.out.text.buf, "done\n");
    assert_int_equal(got.err_out.text.len, 1000);
}

static void drains_what_is_beyond_the_cap_where_it_is_told_to(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("head -c 500000 /dev/zero; printf end >&2; exit 3");

    (void)state;
    spec.drains = true;
    for (size_t cap = 0; cap < 3; cap++) {
        al_auto(outcome_clear) struct outcome got = run_up_to(&spec, cap);

        assert_int_equal(got.r, 0);
        assert_false(got.result.stopped);
        assert_int_equal(got.result.exit_code, 3);
        assert_int_equal(got.out.text.len, cap);
        assert_true(got.err_out.text.len == (cap < 3 ? cap : 3));
    }
}

static void a_child_that_drains_has_its_deadline(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("while :; do echo more; done");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    spec.drains = true;
    spec.timeout_ms = 100;
    got = run_up_to(&spec, 10);
    assert_int_equal(got.r, AL_ERR_TIMEOUT);
    assert_int_equal(got.out.text.len, 10);
}

static void passes_large_output_whole(void **state)
{
    const struct al_proc_spec spec = SHELL_SPEC("head -c 1000000 /dev/zero");
    al_auto(outcome_clear) struct outcome got = run_up_to(&spec, 1000000);

    (void)state;
    assert_false(got.result.stopped);
    assert_int_equal(got.out.text.len, 1000000);
    assert_int_equal(got.out.total, 1000000);
}

static void passes_much_output_that_comes_in_small_pieces(void **state)
{
    struct al_proc_spec spec =
        SHELL_SPEC("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678; i=$((i+1)); done");

    (void)state;
    for (size_t cap = 59999; cap <= 60001; cap++) {
        al_auto(outcome_clear) struct outcome got = run_up_to(&spec, cap);

        assert_int_equal(got.result.stopped, cap < 60000);
        assert_int_equal(got.out.text.len, cap < 60000 ? cap : 60000);
    }
}

static void ends_a_child_at_its_deadline(void **state)
{
    static const char *const scripts[] = {
        "echo before; exec sleep 600",                               /* waits */
        "trap '' TERM INT HUP; echo before; while :; do :; done",    /* ignores and works */
        "echo before; exec >&- 2>&-; exec sleep 600",                /* closed its streams */
        "echo before; while :; do echo err >&2; done",               /* never silent */
        "echo before; sleep 600 & sleep 600 & wait",                 /* has children */
        "echo before; (trap '' TERM; setsid sleep 600) & sleep 600", /* that left the session */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(scripts); i++) {
        struct al_proc_spec spec = SHELL_SPEC(scripts[i]);
        al_auto(outcome_clear) struct outcome got = { .r = 0 };

        print_message("  %s\n", scripts[i]);
        spec.timeout_ms = 100;
        got = run(&spec);
        assert_int_equal(got.r, AL_ERR_TIMEOUT);
        assert_int_equal(got.err.code, AL_CODE_TIMEOUT);
        assert_string_equal(got.err.message, "sh command timed out after 100ms");
    }
}

static void hands_over_what_came_before_the_deadline(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("echo before; exec sleep 600");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    for (spec.timeout_ms = 50; spec.timeout_ms < LONG_MS && !got.out.text.len;
         spec.timeout_ms *= 2) {
        outcome_clear(&got);
        got = run(&spec);
        assert_int_equal(got.r, AL_ERR_TIMEOUT);
    }
    assert_string_equal(got.out.text.buf, "before\n");
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
        cmocka_unit_test(keeps_output_up_to_the_cap_and_stops_beyond),
        cmocka_unit_test(drains_what_is_beyond_the_cap_where_it_is_told_to),
        cmocka_unit_test(a_child_that_drains_has_its_deadline),
        cmocka_unit_test(stops_a_child_that_never_stops_writing),
        cmocka_unit_test(drops_errors_beyond_the_cap_without_stopping),
        cmocka_unit_test(passes_large_output_whole),
        cmocka_unit_test(passes_much_output_that_comes_in_small_pieces),
        cmocka_unit_test(ends_a_child_at_its_deadline),
        cmocka_unit_test(hands_over_what_came_before_the_deadline),
    };

    return cmocka_run_group_tests_name("proc/capture", tests, set_up, NULL);
}
