// SPDX-License-Identifier: Apache-2.0

#include "base/str.h"
#include "guard/text.h"
#include "tests/lib/assert.h"

static void check(const char *shown, const char *expected)
{
    al_auto(al_freep) char *name = al_shown_name_read(shown);

    if (expected)
        assert_string_equal(name, expected);
    else
        assert_null(name);
}

static void test_shown(void **state)
{
    (void)state;
    check("a<U+000A>b", "a\nb");
    check("<U+001B>[2J<U+007F>", "\033[2J\177");
    check("dir<U+0009>/x", "dir\t/x");
    check("<U+0085><U+202E>", "\xc2\x85\xe2\x80\xae");
    check("<U+E0041>", "\xf3\xa0\x81\x81");
    check("<U+000A", NULL);
    check("<U+000A<U+000A>", "<U+000A\n");
}

static void test_others_stay(void **state)
{
    static const char *const names[] = {
        "",         "a",        "<",          "<U+>",      "<U+0000>", "<U+002F>",
        "<U+002E>", "<U+0041>", "<U+A>",      "<U+0000A>", "<U+000a>", "<u+000A>",
        "<U+00E4>", "<U+D800>", "<U+110000>", "<U+-00A>",  "<U+ 00A>", "<U+FFFFFFFFFFFFFFFF0A>",
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(names); i++)
        check(names[i], NULL);
}

/* Every character: what is shown of it is read as it. */
static void test_reverse(void **state)
{
    (void)state;
    for (unsigned c = 1; c < 0x800; c++) {
        const char two[] = { (char)(0xc0 | (c >> 6)), (char)(0x80 | (c & 0x3f)), '\0' };
        const char one[] = { (char)c, '\0' };
        const char *name = c < 0x80 ? one : two;
        al_auto(al_freep) char *shown = al_text_sanitize_shown_line(name);
        al_auto(al_freep) char *read = al_shown_name_read(shown);

        assert_string_equal(read ? read : shown, name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_others_stay),
        cmocka_unit_test(test_reverse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
