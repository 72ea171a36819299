// SPDX-License-Identifier: Apache-2.0
/* gitops/sequencer/markers.c: conflicted hunks are found in a file, and content that still has
 * markers is recognized. */
#include "gitops/sequencer/conflict.h"
#include "tests/lib/assert.h"

#define HUNK "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> feature"

static bool hunks(const char *text, size_t marker_size, size_t max_bytes, struct al_str *out)
{
    return al_conflict_hunks(text, strlen(text), marker_size, max_bytes, out);
}

static void assert_hunks(const char *text, size_t marker_size, const char *expected)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    assert_true(hunks(text, marker_size, 1024, &out));
    assert_string_equal(out.buf, expected);
}

static void takes_the_hunks_and_nothing_else(void **state)
{
    (void)state;
    assert_hunks("", 7, "");
    assert_hunks("no conflict\n", 7, "");
    assert_hunks(HUNK, 7, HUNK);
    assert_hunks("before\n" HUNK "\nafter\n", 7, HUNK);
    assert_hunks(HUNK "\nbetween\n" HUNK "\n", 7, HUNK "\n" HUNK);
    assert_hunks("<<<<<<<\na\r\n=======\r\nb\r\n>>>>>>> x\r\nafter\r\n", 7,
                 "<<<<<<<\na\r\n=======\r\nb\r\n>>>>>>> x\r");
    assert_hunks("<<<<<<< a\n1\n||||||| b\n0\n=======\n2\n>>>>>>> c\n", 7,
                 "<<<<<<< a\n1\n||||||| b\n0\n=======\n2\n>>>>>>> c");
}

static void a_marker_is_as_long_as_it_is(void **state)
{
    (void)state;
    assert_hunks("<<<<<<<< a\n=======\n>>>>>>> b\n", 7, "");
    assert_hunks("<<<<<<<a\n=======\n>>>>>>> b\n", 7, "");
    assert_hunks(" <<<<<<< a\n=======\n>>>>>>> b\n", 7, "");
    assert_hunks("<<< a\n1\n===\n" HUNK "\n>>> b\n", 3, "<<< a\n1\n===\n" HUNK "\n>>> b");
    assert_hunks("<<<<<<< a\n>>>>>>> b\n", 7, "");        /* without "=======" */
    assert_hunks(HUNK "\n<<<<<<< a\n=======\n", 7, HUNK); /* without ">>>>>>>" */
}

static void gives_whole_hunks_up_to_the_cap(void **state)
{
    static const char two[] = HUNK "\n" HUNK "\n";
    const size_t one_len = strlen(HUNK), two_len = 2 * one_len + 1;
    const struct {
        size_t max_bytes, expected;
        bool whole;
    } cases[] = {
        { 0, 0, false },
        { one_len - 1, 0, false },
        { one_len, one_len, false },
        { one_len + 1, one_len, false },
        { two_len - 1, one_len, false },
        { two_len, two_len, true },
        { two_len + 1, two_len, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        assert_int_equal(hunks(two, 7, cases[i].max_bytes, &out), cases[i].whole);
        assert_int_equal(out.len, cases[i].expected);
    }
}

static void finds_what_was_left_behind(void **state)
{
    static const char *const left[] = {
        HUNK, "a\n<<<<<<< HEAD\nb\n", "a\n>>>>>>> x", "a\n||||||| base\n", "<<<<<<<", ">>>>>>>\r\n",
    };
    static const char *const fine[] = {
        "",         "a\n", "Title\n=======\n", "<<<<<< six\n", ">>>>>>>> eight\n", "a <<<<<<< b\n",
        "<<<<<<<x",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(left); i++)
        assert_true(al_conflict_has_markers(left[i], strlen(left[i]), 7));
    for (size_t i = 0; i < COUNT(fine); i++)
        assert_false(al_conflict_has_markers(fine[i], strlen(fine[i]), 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_hunks_and_nothing_else),
        cmocka_unit_test(a_marker_is_as_long_as_it_is),
        cmocka_unit_test(gives_whole_hunks_up_to_the_cap),
        cmocka_unit_test(finds_what_was_left_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
