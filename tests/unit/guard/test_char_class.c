// SPDX-License-Identifier: Apache-2.0
/* guard/glob.h: which characters are invisible, and how far plain text reaches. */
#include "guard/glob.h"

#include <string.h>

#include "tests/lib/assert.h"

static void invisible_characters(void **state)
{
    static const uint32_t hidden[] = { 0xad, 0x200b, 0x202e, 0x2060, 0xfe0f, 0xfeff, 0xe0041 };
    static const uint32_t visible[] = { 'a', 0xe4, 0x2027, 0x2010, 0x1f600, 0xe1000 };

    (void)state;
    for (size_t i = 0; i < COUNT(hidden); i++)
        assert_true(al_char_is_invisible(hidden[i]));
    for (size_t i = 0; i < COUNT(visible); i++)
        assert_false(al_char_is_invisible(visible[i]));
}

static void plain_runs(void **state)
{
    static const struct {
        const char *text;
        size_t run;
    } cases[] = {
        { "", 0 },     { "a line\tof text\n", 15 }, { "12345678\x1b[m", 8 }, { "1234567\x7f", 7 },
        { "\r\n", 0 }, { "\xc3\xa4", 0 },           { "ab\xe2\x80\xae", 2 }, { "ab\xc3", 2 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(al_char_plain_run(cases[i].text, strlen(cases[i].text)), cases[i].run);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(invisible_characters),
        cmocka_unit_test(plain_runs),
    };

    return cmocka_run_group_tests_name("guard/char_class", tests, NULL, NULL);
}
