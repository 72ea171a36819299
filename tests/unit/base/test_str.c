// SPDX-License-Identifier: Apache-2.0
/* base/str.h: strings and lists keep their invariants. */
#include "base/str.h"

#include "tests/lib/assert.h"

static void an_empty_string_is_readable(void **state)
{
    struct al_str s = AL_STR_INIT;

    (void)state;
    assert_string_equal(s.buf, "");
    al_str_clear(&s);
    assert_string_equal(s.buf, "");
}

static void grows_and_stays_terminated(void **state)
{
    al_auto(al_str_clear) struct al_str s = AL_STR_INIT;

    (void)state;
    for (int i = 0; i < 1000; i++)
        al_str_addf(&s, "%d,", i % 10);
    assert_int_equal(s.len, 2000);
    assert_int_equal(strlen(s.buf), 2000);
    al_str_truncate(&s, 3);
    assert_string_equal(s.buf, "0,1");
    al_str_truncate(&s, 9); /* longer than it is: nothing happens */
    assert_int_equal(s.len, 3);
}

static void trims_only_the_end(void **state)
{
    al_auto(al_str_clear) struct al_str s = AL_STR_INIT;

    (void)state;
    al_str_adds(&s, " a b \r\n\t");
    al_str_trim_end(&s);
    assert_string_equal(s.buf, " a b");
}

static void a_list_ends_with_null(void **state)
{
    al_auto(al_strv_clear) struct al_strv v = AL_STRV_INIT;

    (void)state;
    for (int i = 0; i < 40; i++) {
        al_strv_addf(&v, "item %d", i);
        assert_int_equal(v.count, i + 1);
        assert_null(v.items[v.count]);
    }
    assert_string_equal(v.items[39], "item 39");
    assert_true(al_strv_contains(&v, "item 7"));
    assert_false(al_strv_contains(&v, "item"));
}

static void a_sorted_list_is_searched(void **state)
{
    static const char *const items[] = { "b", "", "a/b", "a", "a-b", "b" };
    al_auto(al_strv_clear) struct al_strv v = AL_STRV_INIT;

    (void)state;
    al_strv_sort(&v);
    assert_false(al_strv_contains_sorted(&v, ""));
    for (size_t i = 0; i < COUNT(items); i++)
        al_strv_add(&v, items[i]);
    al_strv_sort(&v);
    for (size_t i = 0; i + 1 < v.count; i++)
        assert_true(strcmp(v.items[i], v.items[i + 1]) <= 0);
    for (size_t i = 0; i < COUNT(items); i++)
        assert_true(al_strv_contains_sorted(&v, items[i]));
    assert_false(al_strv_contains_sorted(&v, "a/"));
    assert_false(al_strv_contains_sorted(&v, "c"));
}

static void detaching_leaves_an_empty_string(void **state)
{
    struct al_str s = AL_STR_INIT;
    al_auto(al_freep) char *nothing = al_str_detach(&s);

    (void)state;
    assert_string_equal(nothing, "");
    al_str_adds(&s, "x");
    al_auto(al_freep) char *text = al_str_detach(&s);
    assert_string_equal(text, "x");
    assert_string_equal(s.buf, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_string_is_readable),
        cmocka_unit_test(grows_and_stays_terminated),
        cmocka_unit_test(trims_only_the_end),
        cmocka_unit_test(a_list_ends_with_null),
        cmocka_unit_test(a_sorted_list_is_searched),
        cmocka_unit_test(detaching_leaves_an_empty_string),
    };

    return cmocka_run_group_tests_name("util/str", tests, NULL, NULL);
}
