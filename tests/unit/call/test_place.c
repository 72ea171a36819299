// SPDX-License-Identifier: Apache-2.0
/* call/place.c: paths as seen from a working directory. */
#include "call/answer.h"

#include "tests/lib/assert.h"

static void check(const char *dir, const char *path, const char *expected)
{
    const struct al_repo repo = { .at = { .top = (char *)(uintptr_t) "/r",
                                          .dir = (char *)(uintptr_t)dir } };
    al_auto(al_freep) char *place = al_place(&repo, path);

    assert_string_equal(place, expected);
}

static void from_the_top(void **state)
{
    (void)state;
    check("/r", "a", "a");
    check("/r", "d/a b", "d/a b");
    check("/r", "", ".");
    check("/r", "nl\nx", "nl<U+000A>x");
}

static void from_below(void **state)
{
    (void)state;
    check("/r/d", "d/a", "a");
    check("/r/d", "a", "../a");
    check("/r/d/e", "a", "../../a");
    check("/r/d/e", "d/a", "../a");
    check("/r/d/e", "d/e/f/a", "f/a");
    check("/r/d/e", "d/ef", "../ef");
    check("/r/d/ef", "d/e/a", "../e/a");
    check("/r/de", "d/a", "../d/a");
    check("/r/d", "de", "../de");
    check("/r/d/e", "d/f/e/a", "../f/e/a");
}

static void the_directory_itself(void **state)
{
    (void)state;
    check("/r/d", "d/", ".");
    check("/r/d/e", "d/", "..");
    check("/r/d/e", "", "../..");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_top),
        cmocka_unit_test(from_below),
        cmocka_unit_test(the_directory_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
