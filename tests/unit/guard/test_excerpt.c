// SPDX-License-Identifier: Apache-2.0
/* guard/text.h: a text is cut at the length the caller asked for, between characters, with a
 * marker. */
#include "guard/text.h"

#include "base/utf8.h"
#include "tests/lib/assert.h"

#define MARKER "\n\n... [output truncated]"

static bool truncated(const char *text, size_t max_bytes, struct al_str *out)
{
    al_str_reset(out);
    al_str_adds(out, text);
    return al_text_truncate(out, max_bytes);
}

static void the_marker_is_24_bytes(void **state)
{
    (void)state;
    assert_string_equal(AL_TEXT_MARKER, MARKER);
    assert_int_equal(strlen(AL_TEXT_MARKER), 24);
}

static void a_text_is_cut_from_one_byte_over_the_cap(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    const char *text = "0123456789012345678901234567890123456789"; /* 40 bytes */

    (void)state;
    assert_false(truncated(text, 41, &out));
    assert_string_equal(out.buf, text);
    assert_false(truncated(text, 40, &out));
    assert_string_equal(out.buf, text);
    assert_true(truncated(text, 39, &out));
    assert_string_equal(out.buf, "012345678901234" MARKER);
    assert_int_equal(out.len, 39);
}

static void the_cap_counts_the_marker_down_to_the_marker_alone(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    const char *text = "0123456789012345678901234567890123456789";

    (void)state;
    for (size_t cap = 0; cap <= 30; cap++) {
        assert_true(truncated(text, cap, &out));
        assert_int_equal(out.len, cap < 24 ? 24 : cap);
        assert_memory_equal(out.buf, text, out.len - 24);
        assert_string_equal(out.buf + out.len - 24, MARKER);
    }
}

static void a_short_text_stays_even_under_a_tiny_cap(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    assert_false(truncated("", 0, &out));
    assert_string_equal(out.buf, "");
    assert_false(truncated("abc", 3, &out));
    assert_string_equal(out.buf, "abc");
    assert_true(truncated("abc", 2, &out));
    assert_string_equal(out.buf, MARKER);
    assert_true(truncated("a", 0, &out));
    assert_string_equal(out.buf, MARKER);
}

static void no_character_is_cut_in_two(void **state)
{
    static const char *const characters[] = { "\xc3\xbc", "\xe5\x88\x86", "\xf0\x9f\x98\x80" };

    (void)state;
    for (size_t i = 0; i < COUNT(characters); i++) {
        const size_t width = strlen(characters[i]);
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT, out = AL_STR_INIT;

        al_str_adds(&text, "ab");
        for (int k = 0; k < 20; k++)
            al_str_adds(&text, characters[i]);
        for (size_t cap = 24; cap < 45; cap++) {
            size_t room = cap - 24;
            size_t kept = room < 2 ? room : 2 + (room - 2) / width * width;

            if (text.len <= cap)
                continue;
            assert_true(truncated(text.buf, cap, &out));
            assert_int_equal(out.len, kept + 24);
            assert_true(al_utf8_valid(out.buf, out.len));
        }
    }
}

static void a_word_is_one_safe_line(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "", "" },
        { "src/a.c", "src/a.c" },
        { "a\nb\tc\r\nd", "a<U+000A>b<U+0009>c<U+000D><U+000A>d" },
        { "\033[31mred\033]0;x\007\n", "red<U+000A>" },
        { "a\xe2\x80\xae"
          "b\xff",
          "a<U+202E>b<FF>" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *word = al_text_sanitize_line(cases[i].in);

        assert_string_equal(word, cases[i].out);
    }
}

static void lines_are_joined_to_one(void **state)
{
    static const struct {
        const char *in, *out, *shown;
    } cases[] = {
        { "", "", "" },
        { "a\nb\tc\r\nd", "a b c d", "a b c d" },
        { "\033[31mred\n", "red ", "<U+001B>[31mred " },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *line = al_text_join_lines(cases[i].in);
        al_auto(al_freep) char *shown = al_text_join_shown_lines(cases[i].in);

        assert_string_equal(line, cases[i].out);
        assert_string_equal(shown, cases[i].shown);
    }
}

static void a_list_names_the_first_items_and_hints_at_the_rest(void **state)
{
    static const struct {
        size_t max_items;
        const char *out;
    } cases[] = {
        { 0, "..." },
        { 1, "a.c..." },
        { 2, "a.c, b<U+000A>c..." },
        { 3, "a.c, b<U+000A>c, <U+001B>[31mred" },
        { 4, "a.c, b<U+000A>c, <U+001B>[31mred" },
    };
    al_auto(al_strv_clear) struct al_strv items = AL_STRV_INIT, none = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    al_strv_adds(&items, "a.c", "b\nc", "\033[31mred", NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_str_reset(&out);
        al_text_add_list(&out, &items, cases[i].max_items);
        assert_string_equal(out.buf, cases[i].out);
    }
    al_str_reset(&out);
    al_text_add_list(&out, &none, 2);
    assert_string_equal(out.buf, "");
}

/* The excerpt of `count` lines of `width` bytes each, including the newline. */
static void excerpt(size_t count, size_t width, bool more, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str diff = AL_STR_INIT;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 1; k < width; k++)
            al_str_addc(&diff, '+');
        al_str_addc(&diff, '\n');
    }
    al_str_reset(out);
    al_text_add_excerpt(out, diff.buf, diff.len, more);
}

static void an_excerpt_has_200_lines_at_most(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    excerpt(199, 4, false, &out);
    assert_int_equal(out.len, 199 * 4);
    excerpt(200, 4, false, &out);
    assert_int_equal(out.len, 200 * 4);
    excerpt(201, 4, false, &out);
    assert_string_equal(out.buf + 200 * 4, "… 1 more line\n");
    excerpt(1000, 4, false, &out);
    assert_string_equal(out.buf + 200 * 4, "… 800 more lines\n");
}

static void an_excerpt_has_16_kib_at_most(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    excerpt(127, 128, false, &out);
    assert_int_equal(out.len, 127 * 128);
    excerpt(128, 128, false, &out);
    assert_int_equal(out.len, 16384);
    excerpt(129, 128, false, &out);
    assert_string_equal(out.buf + 16384, "… 1 more line\n");
    excerpt(150, 1000, false, &out);
    assert_string_equal(out.buf + 16000, "… 134 more lines\n");
}

static void one_endless_line_is_cut_between_characters(void **state)
{
    al_auto(al_str_clear) struct al_str diff = AL_STR_INIT, out = AL_STR_INIT;

    (void)state;
    al_str_addc(&diff, '+');
    for (int i = 0; i < 20000; i++)
        al_str_adds(&diff, "\xc3\xbc");
    al_text_add_excerpt(&out, diff.buf, diff.len, false);
    assert_true(al_utf8_valid(out.buf, out.len));
    assert_memory_equal(out.buf, diff.buf, 16383);
    assert_string_equal(out.buf + 16383, "\n… 1 more line\n");
}

static void a_diff_that_was_cut_before_says_at_least(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    excerpt(300, 4, true, &out);
    assert_string_equal(out.buf + 200 * 4, "… at least 100 more lines\n");
    excerpt(2, 4, true, &out);
    assert_string_equal(out.buf, "+++\n+++\n… at least 1 more line\n");
    al_str_reset(&out);
    al_text_add_excerpt(&out, "+cut in the midd", 16, true);
    assert_string_equal(out.buf, "+cut in the midd\n… at least 1 more line\n");
}

/* The user approves the full text, including what a terminal does not show and sanitizing removes.
 */
static void an_excerpt_hides_nothing_in_a_line(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    const char *diff = "+ok();\033]0;\nevil();\007\n+a();\033[8mevil();\n+evil();\rgood();\n";

    (void)state;
    al_text_add_excerpt(&out, diff, strlen(diff), false);
    assert_string_equal(out.buf, "+ok();<U+001B>]0;\nevil();<U+0007>\n+a();<U+001B>[8mevil();\n"
                                 "+evil();<U+000D>good();\n");
}

static void an_excerpt_is_safe_for_a_terminal(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    const char *diff = "+\033[2Jx\n+\xe2\x80\xae\n+\033]0;open\n+last";

    (void)state;
    al_text_add_excerpt(&out, diff, strlen(diff), false);
    assert_string_equal(out.buf, "+<U+001B>[2Jx\n+<U+202E>\n+<U+001B>]0;open\n+last");
    al_str_reset(&out);
    al_text_add_excerpt(&out, "", 0, false);
    assert_string_equal(out.buf, "");
}

static void what_cleaning_adds_counts_towards_the_limit(void **state)
{
    al_auto(al_str_clear) struct al_str diff = AL_STR_INIT, out = AL_STR_INIT;

    (void)state;
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 100; k++)
            al_str_adds(&diff, "\xe2\x80\xae");
        al_str_addc(&diff, '\n');
    }
    al_text_add_excerpt(&out, diff.buf, diff.len, false);
    assert_string_equal(out.buf + 20 * 801, "… 80 more lines\n");
}

static void no_line_of_an_indented_text_begins_at_the_margin(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "", "" },
        { "one", "    one\n" },
        { "one\n", "    one\n" },
        { "one\n\nThe change:\n+x", "    one\n    \n    The change:\n    +x\n" },
        { "one\rtwo\vthree\033[2K", "    one<U+000D>two<U+000B>three<U+001B>[2K\n" },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_text_add_indented(&out, cases[i].text, false);
        assert_string_equal(out.buf, cases[i].expected);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_marker_is_24_bytes),
        cmocka_unit_test(a_text_is_cut_from_one_byte_over_the_cap),
        cmocka_unit_test(the_cap_counts_the_marker_down_to_the_marker_alone),
        cmocka_unit_test(a_short_text_stays_even_under_a_tiny_cap),
        cmocka_unit_test(no_character_is_cut_in_two),
        cmocka_unit_test(a_word_is_one_safe_line),
        cmocka_unit_test(lines_are_joined_to_one),
        cmocka_unit_test(a_list_names_the_first_items_and_hints_at_the_rest),
        cmocka_unit_test(an_excerpt_has_200_lines_at_most),
        cmocka_unit_test(an_excerpt_has_16_kib_at_most),
        cmocka_unit_test(one_endless_line_is_cut_between_characters),
        cmocka_unit_test(a_diff_that_was_cut_before_says_at_least),
        cmocka_unit_test(an_excerpt_hides_nothing_in_a_line),
        cmocka_unit_test(an_excerpt_is_safe_for_a_terminal),
        cmocka_unit_test(what_cleaning_adds_counts_towards_the_limit),
        cmocka_unit_test(no_line_of_an_indented_text_begins_at_the_margin),
    };

    return cmocka_run_group_tests_name("guard/excerpt", tests, NULL, NULL);
}
