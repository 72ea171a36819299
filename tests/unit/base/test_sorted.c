// SPDX-License-Identifier: Apache-2.0
/* base/sorted.c: search in sorted arrays. */
#include "base/sorted.h"

#include "tests/lib/assert.h"

struct item {
    const char *name;
    int number;
};

static void finds_each_item_and_its_place(void **state)
{
    static const struct item items[] = { { "a", 1 },   { "a.b", 2 }, { "a/b", 3 },
                                         { "a/b", 4 }, { "b", 5 },   { "\xc3\xa4", 6 } };
    static const struct {
        const char *text;
        size_t place, found; /* among all items */
    } cases[] = {
        { "", 0, SIZE_MAX },   { "a", 0, 0 },        { "a-", 1, SIZE_MAX },   { "a.b", 1, 1 },
        { "a/", 2, SIZE_MAX }, { "a/b", 2, 2 },      { "a/b/", 4, SIZE_MAX }, { "b", 4, 4 },
        { "z", 5, SIZE_MAX },  { "\xc3\xa4", 5, 5 }, { "\xff", 6, SIZE_MAX },
    };

    (void)state;
    for (size_t count = 0; count <= COUNT(items); count++)
        for (size_t i = 0; i < COUNT(cases); i++) {
            const size_t place = cases[i].place < count ? cases[i].place : count;
            const size_t found = cases[i].found < count ? cases[i].found : SIZE_MAX;

            assert_int_equal(al_sorted_lower_bound(items, count, sizeof(*items), cases[i].text),
                             place);
            assert_int_equal(al_sorted_find(items, count, sizeof(*items), cases[i].text), found);
        }
}

static void takes_an_array_of_strings(void **state)
{
    static const char *const texts[] = { "one", "three", "two" };

    (void)state;
    assert_int_equal(al_sorted_find(texts, 3, sizeof(*texts), "two"), 2);
    assert_int_equal(al_sorted_find(texts, 3, sizeof(*texts), "four"), SIZE_MAX);
    assert_int_equal(al_sorted_lower_bound(texts, 3, sizeof(*texts), "p"), 1);
    assert_int_equal(al_sorted_lower_bound(NULL, 0, sizeof(*texts), "p"), 0);
    assert_int_equal(al_sorted_find(NULL, 0, sizeof(*texts), "p"), SIZE_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_item_and_its_place),
        cmocka_unit_test(takes_an_array_of_strings),
    };

    return cmocka_run_group_tests_name("util/sorted", tests, NULL, NULL);
}
