// SPDX-License-Identifier: Apache-2.0
/* review/screen/library.h: a missing or unfit library is named in one line. */
#include "review/screen/library.h"

#include "tests/lib/assert.h"

static void a_missing_library_is_named(void **state)
{
    const struct al_curses *curses = NULL;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    assert_int_equal(al_curses_load("libnone-such.so.9", &curses, &err), AL_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "install libncursesw6"));
    assert_null(strchr(err.message, '\n'));
    assert_int_equal(al_curses_load("libc.so.6", &curses, &err), AL_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "install libncursesw6"));
    assert_null(curses);
}

static void it_is_loaded_once(void **state)
{
    const struct al_curses *curses = NULL, *again = NULL;

    (void)state;
    assert_int_equal(al_curses_load(NULL, &curses, NULL), 0);
    assert_int_equal(al_curses_load(NULL, &again, NULL), 0);
    assert_ptr_equal(curses, again);
    assert_non_null(curses->newterm);
    assert_non_null(curses->wget_wch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_library_is_named),
        cmocka_unit_test(it_is_loaded_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
