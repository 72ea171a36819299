// SPDX-License-Identifier: Apache-2.0
/* staging/tree_bounds.c: how much of a tree is read.  Compiled with small limits. */
#include "staging/base.h"

#include "tests/lib/assert.h"

_Static_assert(AL_TREE_ENTRIES_MAX == 4 && AL_TREE_NAMES_MAX_BYTES == 20 && AL_TREE_DEPTH_MAX == 2,
               "the paths below are made for them");

/* Count paths until one is too much; gives how many were taken. */
static size_t take(const char *const *paths)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_tree_bounds bounds = { .entries = 0 };
    size_t taken = 0;

    while (paths[taken] && al_tree_bounds_add(&bounds, paths[taken]))
        taken++;
    assert_int_equal(al_tree_bounds_check(&bounds, "the tree", "take a smaller one", &err),
                     paths[taken] ? AL_ERR_EXECUTION : 0);
    if (paths[taken])
        assert_string_equal(err.message,
                            "the tree has more than 4 files and directories, more than 20 bytes of "
                            "names, or directories more than 2 deep; take a smaller one");
    return taken;
}

static void each_limit_is_one(void **state)
{
    static const struct {
        const char *paths[8];
        size_t taken;
    } rows[] = {
        { { NULL }, 0 },
        { { "a", "b", "c", NULL }, 3 },
        { { "a", "b", "c", "d", NULL }, 4 },
        { { "a", "b", "c", "d", "e", NULL }, 4 },
        { { "1234567890", "123456789", NULL }, 2 },
        { { "1234567890", "1234567890", NULL }, 2 },
        { { "1234567890", "12345678901", NULL }, 1 },
        { { "a/b", NULL }, 1 },
        { { "a/b/c", NULL }, 1 },
        { { "a/b/c/d", NULL }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(take(rows[i].paths), rows[i].taken);
}

int main(void)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(each_limit_is_one) };

    return cmocka_run_group_tests_name("staging/tree_bounds", tests, NULL, NULL);
}
