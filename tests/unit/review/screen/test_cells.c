// SPDX-License-Identifier: Apache-2.0
/* review/screen/text.c: text is cut to columns, and nothing that does something to a terminal,
 * or whose width is not known, comes through. */
#include "review/screen/private.h"

#include <stdlib.h>

#include "tests/lib/assert.h"

static void assert_cut(const char *text, size_t columns, const char *wanted, size_t width)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    size_t taken = 0;

    (void)al_cells_cut(text, strlen(text), columns, &out, &taken);
    assert_string_equal(out.buf, wanted);
    assert_int_equal(taken, width);
}

static void plain_text_is_cut_at_the_column(void **state)
{
    (void)state;
    assert_cut("", 10, "", 0);
    assert_cut("abc", 2, "ab", 2);
    assert_cut("abc", 3, "abc", 3);
    assert_cut("abc", 4, "abc", 3);
    assert_cut("a\tb", 20, "a       b", 9);
    assert_cut("a\tb", 7, "a", 1);
}

static void wide_characters_take_two_columns(void **state)
{
    (void)state;
    assert_cut("漢字", 4, "漢字", 4);
    assert_cut("漢字", 3, "漢", 2);
    assert_cut("\u00e9x", 2, "\u00e9x", 2);
    assert_cut("e\u0301x", 2, "e\u0301x", 2);
    assert_cut("e\u0301x", 1, "e\u0301", 1);
}

static void nothing_reaches_the_terminal(void **state)
{
    (void)state;
    assert_cut("\033[2J", 20, "<U+001B>[2J", 11);
    assert_cut("a\rb", 20, "a<U+000D>b", 10);
    assert_cut("a\nb", 20, "a<U+000A>b", 10);
    assert_cut("\x7f", 20, "<U+007F>", 8);
    assert_cut("\xc2\x9b"
               "2J",
               20, "<U+009B>2J", 10);
    assert_cut("\u202e", 20, "<U+202E>", 8);
    assert_cut("\u200b", 20, "<U+200B>", 8);
    assert_cut("\u2066a", 20, "<U+2066>a", 9);
    assert_cut("\U000e0041", 20, "<U+E0041>", 9);
    assert_cut("\x80\xff", 20, "\ufffd\ufffd", 2);
    assert_cut("\xf0\x9f", 20, "\ufffd\ufffd", 2);
}

static void combining_characters_do_not_pile_up(void **state)
{
    (void)state;
    assert_cut("\u0301", 20, "<U+0301>", 8);
    assert_cut("e\u0301\u0301\u0301", 20, "e\u0301\u0301<U+0301>", 9);
    assert_cut("\t\u0301", 20, "        <U+0301>", 16);
}

/* What is too wide is not cut in two. */
static void an_escape_stays_whole(void **state)
{
    (void)state;
    assert_cut("ab\u202e", 9, "ab", 2);
    assert_cut("ab\u202e", 10, "ab<U+202E>", 10);
    assert_cut("\U0010fffe", AL_CELLS_WIDEST, "<U+10FFFE>", AL_CELLS_WIDEST);
}

static void a_cell_has_exactly_its_columns(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
        const char *wanted;
    } cases[] = {
        { "abc", 5, "abc  " }, { "abc", 3, "abc" },        { "abcd", 3, "ab\u2026" },
        { "", 2, "  " },       { "abc", 0, "" },           { "漢字", 3, "漢\u2026" },
        { "漢字", 4, "漢字" }, { "a漢字", 3, "a\u2026 " }, { "\u202e", 4, "\u2026   " },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_cells_fit(cases[i].text, cases[i].columns, &out);
        assert_string_equal(out.buf, cases[i].wanted);
    }
}

static void other_locales_show_ascii_only(void **state)
{
    (void)state;
    assert_int_equal(setenv("LC_ALL", "C", 1), 0);
    al_cells_use_locale();
    assert_cut("\u00e9", 20, "<U+00E9>", 8);
    assert_cut("\xe9", 20, "?", 1);
    assert_cut("a\tb", 20, "a       b", 9);
}

static int use_utf8(void **state)
{
    (void)state;
    (void)setenv("LC_ALL", "C.UTF-8", 1);
    al_cells_use_locale();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_is_cut_at_the_column),
        cmocka_unit_test(wide_characters_take_two_columns),
        cmocka_unit_test(nothing_reaches_the_terminal),
        cmocka_unit_test(combining_characters_do_not_pile_up),
        cmocka_unit_test(an_escape_stays_whole),
        cmocka_unit_test(a_cell_has_exactly_its_columns),
        cmocka_unit_test(other_locales_show_ascii_only),
    };

    return cmocka_run_group_tests(tests, use_utf8, NULL);
}
