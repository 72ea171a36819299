// SPDX-License-Identifier: Apache-2.0
/* guard/text.h: no text of a repository controls a terminal or hides from the reader. */
#include "guard/text.h"

#include "base/utf8.h"
#include "tests/lib/assert.h"

#define BAD "\xef\xbf\xbd"

static const struct {
    const char *in, *out;
} cases[] = {
    /* text that is kept */
    { "", "" },
    { "plain\ttext\n", "plain\ttext\n" },
    { "gr\xc3\xbcn \xe5\x88\x86\xe6\x94\xaf \xf0\x9f\x98\x80 \xe2\x80\xa6\n",
      "gr\xc3\xbcn \xe5\x88\x86\xe6\x94\xaf \xf0\x9f\x98\x80 \xe2\x80\xa6\n" },
    { "\xe3\x81\x82\xed\x9f\xbf\xee\x80\x80\xe0\xa4\x85",
      "\xe3\x81\x82\xed\x9f\xbf\xee\x80\x80\xe0\xa4\x85" },
    { "a\r\nb\r\n", "a\r\nb\r\n" },
    /* other carriage returns and controls */
    { "good\rbad\n", "goodbad\n" },
    { "a\r\r\nb", "a\r\nb" },
    { "a\r", "a" },
    { "a\r\033[m\nb", "a\nb" },
    { "a\bb\x7f"
      "c\x01\x1f\x07\x0b\x0c\x0e"
      "d",
      "abcd" },
    /* CSI */
    { "\033[31mred\033[0m", "red" },
    { "\033[1;2;3;4;5;6;7;8;9mx", "x" },
    { "\033[?1049h\033[2J\033[Hx", "x" },
    { "\033[ qx\033[!px", "xx" },
    { "\033[3\001"
      "1mx",
      "x" },
    { "\033[31\033[32mx", "x" },
    { "\033[31\x18mx", "mx" },
    { "\033[31\x1amx", "mx" },
    { "\033[31\xc3\xbcx", "\xc3\xbcx" },
    { "\033[31\nmx", "\nmx" },
    { "\033[31\r\nmx", "\r\nmx" },
    { "a\033[", "a" },
    /* two characters, with intermediates */
    { "\033cx\0337\0338\033=y\033>", "xy" },
    { "\033(Bx\033)0y\033#8z\033%Gw", "xyzw" },
    { "\033 Fx", "x" },
    { "\033([x", "x" },
    { "\033\033[31mx", "x" },
    { "a\033\nb", "a\nb" },
    { "a\033\xc3\xbc"
      "b",
      "a\xc3\xbc"
      "b" },
    { "a\033", "a" },
    /* OSC: BEL or ST ends it */
    { "\033]0;title\007x", "x" },
    { "\033]0;title\033\\x", "x" },
    { "\033]0;t\xc2\x9cx", "x" },
    { "\033]8;;http://evil\033\\link\033]8;;\033\\", "link" },
    { "\033]52;c;ZXZpbA==\007x", "x" },
    { "\033]0;gr\xc3\xbc\xe2\x80\xae\xff\007x", "x" },
    { "\033]0;\033[31mx", "x" },
    { "\033]0;\x18x", "x" },
    /* DCS, SOS, PM, APC: only ST ends them */
    { "\033Pq#0~\033\\x", "x" },
    { "\033Pq\007#\033\\x", "x" },
    { "\033Xsos\033\\x\033^pm\033\\y\033_apc\033\\z", "xyz" },
    /* an unterminated string hides its line and nothing after it */
    { "a\033]0;never closed\nnext line\n", "a\nnext line\n" },
    { "a\033Pnever closed\r\nnext line\n", "a\r\nnext line\n" },
    { "a\033_x\ry\n", "ay\n" },
    /* C1 as characters */
    { "\xc2\x9b"
      "31mred\xc2\x9b"
      "0m",
      "red" },
    { "\xc2\x9d"
      "0;t\007x\xc2\x9d"
      "0;t\xc2\x9cx",
      "xx" },
    { "\xc2\x90q\xc2\x9cx\xc2\x98q\xc2\x9cx\xc2\x9eq\xc2\x9cx\xc2\x9fq\xc2\x9cx", "xxxx" },
    { "\xc2\x80"
      "a\xc2\x85"
      "b\xc2\x9c"
      "c\xc2\x84",
      "abc" },
    { "\xc2\xa0", "\xc2\xa0" },
    { "\033[31\xc2\x85mx", "mx" },
    { "\033]0;t\xc2\x85x", "x" },
    /* C1 as bytes, and everything else that is not UTF-8 */
    { "\x9b"
      "31m",
      BAD "31m" },
    { "\x9d"
      "0;t\007x",
      BAD "0;tx" },
    { "\xff\xfe\xc0\xaf", BAD BAD BAD BAD },
    { "\xed\xa0\x80", BAD BAD BAD },
    { "\xf4\x90\x80\x80", BAD BAD BAD BAD },
    { "\xe4\xb8", BAD BAD },
    { "\xe4\xb8x", BAD BAD "x" },
    { "\xe4x\xc3\xc3\xbc", BAD "x" BAD "\xc3\xbc" },
    { "\xf0\x9f\x98", BAD BAD BAD },
    { "\xf0\x9f\033[31mx", BAD BAD "x" },
    { "\033\xffx", BAD "x" },
    /* invisible characters */
    { "\xe2\x80\xae", "<U+202E>" },
    { "\xc2\xad\xcd\x8f\xd8\x9c", "<U+00AD><U+034F><U+061C>" },
    { "\xf3\xa0\x81\x81", "<U+E0041>" },
    { "\xe2\x80\x8b"
      "a\xef\xbb\xbf",
      "<U+200B>a<U+FEFF>" },
    { "\xe2\x80\xa8\xe2\x80\xa9", "<U+2028><U+2029>" },
    { "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb\xef\xb8\x8f",
      "\xf0\x9f\x91\xa9<U+200D>\xf0\x9f\x92\xbb<U+FE0F>" },
};

static void each_case_comes_out_as_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_text_sanitize(cases[i].in, strlen(cases[i].in), &out);
        if (strcmp(out.buf, cases[i].out) != 0 || out.len != strlen(cases[i].out))
            fail_msg("case %zu: got '%s'", i, out.buf);
    }
}

/* A hostile corpus: every case with plain text around it, and all cases in a row. */
static void corpus(struct al_str *all)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_str_adds(all, "the quick brown fox jumps over ");
        al_str_adds(all, cases[i].in);
        al_str_addc(all, '\n');
    }
    al_str_add(all, "a\0b", 3);
}

static void feed_split(const char *data, size_t len, size_t at, size_t step, struct al_text *text)
{
    (void)al_text_add(text, data, at);
    for (size_t i = at; i < len; i += step)
        (void)al_text_add(text, data + i, len - i < step ? len - i : step);
    al_text_end(text);
}

static void where_the_input_is_split_makes_no_difference(void **state)
{
    al_auto(al_str_clear) struct al_str all = AL_STR_INIT, whole = AL_STR_INIT;

    (void)state;
    corpus(&all);
    al_text_sanitize(all.buf, all.len, &whole);
    for (size_t at = 0; at <= all.len; at++) {
        al_auto(al_text_clear) struct al_text text = AL_TEXT_INIT(SIZE_MAX);

        feed_split(all.buf, all.len, at, all.len, &text);
        assert_int_equal(text.out.len, whole.len);
        assert_memory_equal(text.out.buf, whole.buf, whole.len);
    }
    for (size_t step = 1; step <= 17; step++) {
        al_auto(al_text_clear) struct al_text text = AL_TEXT_INIT(SIZE_MAX);

        feed_split(all.buf, all.len, 0, step, &text);
        assert_int_equal(text.out.len, whole.len);
        assert_memory_equal(text.out.buf, whole.buf, whole.len);
    }
}

static void each_case_may_be_cut_into_single_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t at = 0; at <= strlen(cases[i].in); at++) {
            al_auto(al_text_clear) struct al_text text = AL_TEXT_INIT(SIZE_MAX);

            feed_split(cases[i].in, strlen(cases[i].in), at, 1, &text);
            assert_string_equal(text.out.buf, cases[i].out);
        }
    }
}

static bool is_visible_break(unsigned char c)
{
    return c == '\n' || c == '\t' || c == '\r';
}

static void what_comes_out_is_safe_and_stays_as_it_is(void **state)
{
    al_auto(al_str_clear) struct al_str all = AL_STR_INIT, once = AL_STR_INIT, twice = AL_STR_INIT;
    unsigned seed = 1;

    (void)state;
    corpus(&all);
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1103515245u + 12345u;
        al_str_addc(&all, (char)(seed >> 16));
    }
    al_text_sanitize(all.buf, all.len, &once);
    assert_true(al_utf8_valid(once.buf, once.len));
    for (size_t i = 0; i < once.len; i++) {
        unsigned char c = (unsigned char)once.buf[i], next = (unsigned char)once.buf[i + 1];

        assert_true((c >= 0x20 && c != 0x7f) || is_visible_break(c));
        assert_false(c == '\r' && next != '\n');
        assert_false(c == 0xc2 && next < 0xa0);
    }
    al_text_sanitize(once.buf, once.len, &twice);
    assert_int_equal(twice.len, once.len);
    assert_memory_equal(twice.buf, once.buf, once.len);
}

/* The required list, repeated here on purpose: the table is what is tested. */
static bool must_be_shown_by_number(uint32_t c)
{
    return c == 0xad || c == 0x34f || c == 0x61c || c == 0x115f || c == 0x1160 || c == 0x17b4 ||
           c == 0x17b5 || (c >= 0x180b && c <= 0x180f) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0x3164 ||
           (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff || c == 0xffa0 ||
           (c >= 0xfff0 && c <= 0xfffb) || (c >= 0x1bca0 && c <= 0x1bca3) ||
           (c >= 0x1d173 && c <= 0x1d17a) || (c >= 0xe0000 && c <= 0xe0fff);
}

static size_t encode(uint32_t c, char *bytes)
{
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        bytes[0] = (char)(0xc0 | c >> 6);
        bytes[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        bytes[0] = (char)(0xe0 | c >> 12);
        bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    bytes[0] = (char)(0xf0 | c >> 18);
    bytes[1] = (char)(0x80 | (c >> 12 & 0x3f));
    bytes[2] = (char)(0x80 | (c >> 6 & 0x3f));
    bytes[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static void every_character_of_unicode_is_kept_shown_or_removed(void **state)
{
    (void)state;
    for (uint32_t c = 0xa0; c <= 0x10ffff; c++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
        char bytes[5] = "", shown[16];
        size_t n = encode(c, bytes);

        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        (void)snprintf(shown, sizeof(shown), "<U+%04X>", (unsigned)c);
        al_text_sanitize(bytes, n, &out);
        if (strcmp(out.buf, must_be_shown_by_number(c) ? shown : bytes) != 0)
            fail_msg("U+%04X became '%s'", (unsigned)c, out.buf);
    }
}

static void a_full_text_takes_nothing_more(void **state)
{
    for (size_t max = 8; max <= 10; max++) {
        al_auto(al_text_clear) struct al_text text = AL_TEXT_INIT(max);

        (void)state;
        assert_int_equal(al_text_add(&text, "123456789", 9), max >= 9);
        assert_int_equal(text.out.len, 9); /* at most one more than the cap */
        assert_int_equal(al_text_add(&text, "abc", 3), false);
        assert_int_equal(text.out.len, max < 9 ? 9 : max + 1);
        assert_false(al_text_add(&text, "more", 4));
        al_text_end(&text);
        assert_int_equal(text.out.len, max < 9 ? 9 : max + 1);
    }
}

static void nothing_at_all_fits_into_no_bytes(void **state)
{
    al_auto(al_text_clear) struct al_text text = AL_TEXT_INIT(0);

    (void)state;
    assert_true(al_text_add(&text, "\033[31m", 5));
    assert_false(al_text_add(&text, "xyz", 3));
    assert_string_equal(text.out.buf, "x");
}

static void the_cap_holds_wherever_the_input_is_split(void **state)
{
    al_auto(al_str_clear) struct al_str all = AL_STR_INIT, whole = AL_STR_INIT;

    (void)state;
    corpus(&all);
    al_text_sanitize(all.buf, all.len, &whole);
    for (size_t max = 0; max < whole.len + 2; max += 3) {
        al_auto(al_text_clear) struct al_text once = AL_TEXT_INIT(max);
        al_auto(al_text_clear) struct al_text bytes = AL_TEXT_INIT(max);
        bool more = al_text_add(&once, all.buf, all.len);

        al_text_end(&once);
        feed_split(all.buf, all.len, 0, 1, &bytes);
        assert_int_equal(more, once.out.len <= max);
        assert_true(once.out.len <= max + 9); /* <U+E0041> */
        assert_int_equal(once.out.len > max, whole.len > max);
        assert_memory_equal(once.out.buf, whole.buf, once.out.len);
        assert_string_equal(bytes.out.buf, once.out.buf);
    }
}

static void a_cleared_text_can_be_used_again(void **state)
{
    al_auto(al_text_clear) struct al_text text = AL_TEXT_INIT(100);

    (void)state;
    (void)al_text_add(&text, "x\033]0;", 5);
    al_text_clear(&text);
    assert_true(al_text_add(&text, "y\xe4", 2));
    al_text_end(&text);
    (void)al_text_add(&text, "z", 1);
    assert_string_equal(text.out.buf, "y" BAD "z");
}

static void shown_controls_stand_where_they_were(void **state)
{
    static const struct {
        const char *in, *out;
    } shown[] = {
        { "a\tb\r\nc\n", "a\tb\r\nc\n" },
        { "a\rb\r", "a<U+000D>b<U+000D>" },
        { "a\r\r\n", "a<U+000D>\r\n" },
        { "\b\x7f\x01", "<U+0008><U+007F><U+0001>" },
        { "\033[31mred\033[0m", "<U+001B>[31mred<U+001B>[0m" },
        { "x\033]0;hidden\tcode\007y", "x<U+001B>]0;hidden\tcode<U+0007>y" },
        { "\033Pq\033\\", "<U+001B>Pq<U+001B>\\" },
        { "\xc2\x9bm\xc2\x9dx\xc2\x9c", "<U+009B>m<U+009D>x<U+009C>" },
        { "\xe2\x80\xae\xff\xc3\xbc", "<U+202E>" BAD "\xc3\xbc" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(shown); i++) {
        for (size_t at = 0; at <= strlen(shown[i].in); at++) {
            al_auto(al_text_clear) struct al_text text = AL_TEXT_INIT(SIZE_MAX);

            text.show_controls = true;
            al_text_clear(&text); /* keeps its settings */
            feed_split(shown[i].in, strlen(shown[i].in), at, 1, &text);
            assert_string_equal(text.out.buf, shown[i].out);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_comes_out_as_the_table_says),
        cmocka_unit_test(where_the_input_is_split_makes_no_difference),
        cmocka_unit_test(each_case_may_be_cut_into_single_bytes),
        cmocka_unit_test(what_comes_out_is_safe_and_stays_as_it_is),
        cmocka_unit_test(every_character_of_unicode_is_kept_shown_or_removed),
        cmocka_unit_test(a_full_text_takes_nothing_more),
        cmocka_unit_test(nothing_at_all_fits_into_no_bytes),
        cmocka_unit_test(the_cap_holds_wherever_the_input_is_split),
        cmocka_unit_test(a_cleared_text_can_be_used_again),
        cmocka_unit_test(shown_controls_stand_where_they_were),
    };

    return cmocka_run_group_tests_name("guard/text", tests, NULL, NULL);
}
