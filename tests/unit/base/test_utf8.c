// SPDX-License-Identifier: Apache-2.0
/* base/utf8.h: only RFC 3629 counts as UTF-8, and cutting never splits a character. */
#include "base/utf8.h"

#include "tests/lib/assert.h"

static void accepts_characters_of_every_length(void **state)
{
    static const char *const good[] = { "",
                                        "a",
                                        "\xc2\x80",
                                        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf" };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(al_utf8_valid(good[i], strlen(good[i])));
}

static void refuses_what_only_looks_like_it(void **state)
{
    static const char *const bad[] = { "\x80",         "\xc0\x80",         "\xc1\xbf",
                                       "\xe0\x9f\xbf", "\xed\xa0\x80",     "\xf0\x8f\xbf\xbf",
                                       "\xf5",         "\xf4\x90\x80\x80", "\xe2\x82",
                                       "a\xff" };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(al_utf8_valid(bad[i], strlen(bad[i])));
}

static void tells_unfinished_from_wrong(void **state)
{
    uint32_t c = 0;

    (void)state;
    assert_int_equal(al_utf8_next("\xe2\x82", 2, &c), 0);
    assert_int_equal(al_utf8_next("\xe2\x28", 2, &c), -1);
    assert_int_equal(al_utf8_next("\xe2\x82\xac", 3, &c), 3);
    assert_int_equal(c, 0x20ac);
}

static void replaces_each_bad_byte(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    al_utf8_replace("a\xff\xe2\x82z", 5, &out);
    assert_string_equal(out.buf, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
}

static void cuts_at_character_boundaries(void **state)
{
    const char *text = "a\xe2\x82\xac"
                       "b";
    static const size_t want[] = { 0, 1, 1, 1, 4, 5 };

    (void)state;
    for (size_t i = 0; i < COUNT(want); i++)
        assert_int_equal(al_utf8_floor(text, i), want[i]);
}

static void escapes_so_that_the_bytes_come_back(void **state)
{
    static const struct {
        const char *bytes, *shown;
    } cases[] = {
        { "", "" },
        { "plain/\xc3\xa9", "plain/\xc3\xa9" },
        { "caf\xe9", "caf<E9>" },
        { "\xff\xe4\xb8", "<FF><E4><B8>" },
        { "caf<E9>", "caf<3C>E9>" },
        { "<3C>", "<3C>3C>" },
        { "<", "<" },
        { "<e9><4>< 9><U+00E9><41>", "<e9><4>< 9><U+00E9><41>" },
        { "<\xe9>", "<<E9>>" },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
        al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;

        al_utf8_escape(cases[i].bytes, strlen(cases[i].bytes), &shown);
        assert_string_equal(shown.buf, cases[i].shown);
        al_utf8_unescape(shown.buf, &bytes);
        assert_string_equal(bytes.buf, cases[i].bytes);
    }
}

static void invisible_characters(void **state)
{
    static const uint32_t hidden[] = { 0xad, 0x200b, 0x202e, 0x2060, 0xfe0f, 0xfeff, 0xe0041 };
    static const uint32_t visible[] = { 'a', 0xe4, 0x2027, 0x2010, 0x1f600, 0xe1000 };

    (void)state;
    for (size_t i = 0; i < COUNT(hidden); i++)
        assert_true(al_utf8_is_invisible(hidden[i]) && al_utf8_is_hidden(hidden[i]));
    for (size_t i = 0; i < COUNT(visible); i++)
        assert_false(al_utf8_is_invisible(visible[i]) || al_utf8_is_hidden(visible[i]));
    assert_true(al_utf8_is_hidden('\n') && al_utf8_is_hidden(0x7f) && al_utf8_is_hidden(0x9b));
    assert_false(al_utf8_is_hidden(' ') || al_utf8_is_hidden('~'));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_characters_of_every_length),
        cmocka_unit_test(refuses_what_only_looks_like_it),
        cmocka_unit_test(tells_unfinished_from_wrong),
        cmocka_unit_test(replaces_each_bad_byte),
        cmocka_unit_test(cuts_at_character_boundaries),
        cmocka_unit_test(escapes_so_that_the_bytes_come_back),
        cmocka_unit_test(invisible_characters),
    };

    return cmocka_run_group_tests_name("util/utf8", tests, NULL, NULL);
}
