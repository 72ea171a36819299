// SPDX-License-Identifier: Apache-2.0
/* base/json.h: output is one line of valid JSON with the same value. */
#include "base/json.h"

#include <strings.h>

#include "tests/lib/assert.h"

#define LINE_SEPARATOR      "\xe2\x80\xa8"
#define PARAGRAPH_SEPARATOR "\xe2\x80\xa9"
#define BAD                 "\xef\xbf\xbd"

static void quotes_what_json_wants_quoted(void **state)
{
    static const struct {
        const char *text, *quoted;
    } rows[] = {
        { "", "\"\"" },
        { "plain", "\"plain\"" },
        { "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
        { "\t\n\r\x01\x1f\x7f", "\"\\t\\n\\u000d\\u0001\\u001f\\u007f\"" },
        { "\xc3\xa4\xf0\x9f\x98\x80", "\"\xc3\xa4\xf0\x9f\x98\x80\"" },
        { "a" LINE_SEPARATOR "b" PARAGRAPH_SEPARATOR, "\"a\\u2028b\\u2029\"" },
        { LINE_SEPARATOR LINE_SEPARATOR LINE_SEPARATOR, "\"\\u2028\\u2028\\u2028\"" },
        { "\xe2\x80\xae", "\"\\u202e\"" },
        { "\xc2\x9b\x7f\xc2\xad", "\"\\u009b\\u007f\\u00ad\"" },
        { "\xf3\xa0\x80\x81", "\"\\udb40\\udc01\"" },
        { "\xff\xe2\x80", "\"" BAD BAD BAD "\"" },
        /* other characters nearby are not escaped */
        { "\xe2\x80\xa7 \xe2\x81\xb0 \xe2\x82\xac", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
        al_auto(al_freep) char *same = al_asprintf("\"%s\"", rows[i].text);

        al_json_quote(rows[i].text, strlen(rows[i].text), &out);
        assert_string_equal(out.buf, rows[i].quoted ? rows[i].quoted : same);
    }
}

/* `before` letters, the piece, `after` letters: quoted, and read again by the parser. */
static void assert_survives(const char *piece, size_t before, size_t after)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT, out = AL_STR_INIT;

    for (size_t i = 0; i < before; i++)
        al_str_addc(&text, 'x');
    al_str_adds(&text, piece);
    for (size_t i = 0; i < after; i++)
        al_str_addc(&text, 'y');
    al_json_quote(text.buf, text.len, &out);
    assert_null(strpbrk(out.buf, "\n\r"));
    assert_null(strstr(out.buf, LINE_SEPARATOR));
    assert_null(strstr(out.buf, PARAGRAPH_SEPARATOR));

    al_auto(al_json_decrefp) json_t *value = json_loads(out.buf, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    assert_string_equal(json_string_value(value), text.buf);
}

static void quotes_the_same_wherever_it_stands(void **state)
{
    static const char *const pieces[] = {
        LINE_SEPARATOR, PARAGRAPH_SEPARATOR, "\xe2\x82\xac", "\n", "\"", "\x7f", "\x01",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(pieces); i++)
        for (size_t before = 0; before < 20; before++)
            for (size_t after = 0; after < 20; after++)
                assert_survives(pieces[i], before, after);
}

static void makes_room_for_text_that_is_all_escapes(void **state)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT, out = AL_STR_INIT;

    (void)state;
    for (size_t i = 0; i < 10000; i++)
        al_str_adds(&text, i % 3 ? LINE_SEPARATOR : "\x01");
    al_json_quote(text.buf, text.len, &out);
    assert_int_equal(out.len, 2 + 6 * 10000);
}

static void never_reads_behind_the_text(void **state)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    al_auto(al_freep) char *text = al_malloc(2); /* a sanitizer watches its end */

    (void)state;
    memcpy(text, "\xe2\x80", 2);
    al_json_quote(text, 2, &out);
    assert_string_equal(out.buf, "\"" BAD BAD "\"");
}

static void dumps_in_one_line_too(void **state)
{
    al_auto(al_json_decrefp) json_t *value = al_json_object();
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT, ascii = AL_STR_INIT;

    (void)state;
    al_json_set(value, "a" LINE_SEPARATOR,
                al_json_string("\xe2\x82\xac" PARAGRAPH_SEPARATOR "b" LINE_SEPARATOR));
    al_json_dump(value, false, &out);
    assert_string_equal(out.buf, "{\"a\\u2028\":\"\xe2\x82\xac\\u2029b\\u2028\"}");
    al_json_dump(value, true, &ascii);
    assert_string_equal(ascii.buf, "{\"a\\u2028\":\"\\u20ac\\u2029b\\u2028\"}");
}

/* The output equals that of jansson, for values without hidden characters, but for the case of
 * digits. */
static void dumps_what_jansson_does(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "\"\"",
        "{\"a\":{},\"b\":[],\"c\":[[],{}]}",
        "[0,-1,9007199254740993,1.5,true,false,null]",
        "{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\xed\x9f\xbf\",\"z\":[\"\xee\x80\x80\"]}",
        "[\"seven77\xc3\x80\",\"eight888\xc3\x80\",\"\xc3\x80\\n\\\"\\\\\\t\"]",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        al_auto(al_json_decrefp) json_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);

        assert_non_null(value);
        for (int ascii = 0; ascii < 2; ascii++) {
            al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
            al_auto(al_freep) char *want =
                json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | (ascii ? JSON_ENSURE_ASCII : 0));

            al_json_dump(value, ascii, &out);
            assert_int_equal(strcasecmp(out.buf, want), 0);
        }
    }
}

static void reals_are_as_short_as_they_can_be(void **state)
{
    static const char text[] =
        "[0.003,0.1,-2e300,3.0,0.30000000000000004,1.7976931348623157e308,123456789.125]";
    al_auto(al_json_decrefp) json_t *value = json_loads(text, 0, NULL);
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    assert_non_null(value);
    al_json_dump(value, false, &out);
    assert_string_equal(out.buf, text);
}

static void counts_values_and_their_text(void **state)
{
    static const struct {
        const char *text;
        size_t values, bytes;
    } rows[] = {
        { "null", 1, 0 },
        { "1", 1, 0 },
        { "[]", 1, 0 },
        { "[1,[true,null]]", 5, 0 },
        { "\"four\"", 1, 4 },
        { "\"\\u00e4\"", 1, 2 },
        { "{\"name\":\"value\",\"n\":[\"x\"]}", 4, 4 + 5 + 1 + 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_json_decrefp) json_t *value = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);

        assert_non_null(value);
        assert_int_equal(al_json_bytes(value),
                         rows[i].values * AL_JSON_VALUE_BYTES + rows[i].bytes);
    }
    assert_int_equal(al_json_bytes(NULL), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_what_json_wants_quoted),
        cmocka_unit_test(quotes_the_same_wherever_it_stands),
        cmocka_unit_test(makes_room_for_text_that_is_all_escapes),
        cmocka_unit_test(never_reads_behind_the_text),
        cmocka_unit_test(dumps_in_one_line_too),
        cmocka_unit_test(dumps_what_jansson_does),
        cmocka_unit_test(reals_are_as_short_as_they_can_be),
        cmocka_unit_test(counts_values_and_their_text),
    };

    return cmocka_run_group_tests_name("util/json", tests, NULL, NULL);
}
