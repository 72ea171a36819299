// SPDX-License-Identifier: Apache-2.0
/* util/jsonc.h: where values are, with comments and trailing commas, and what is refused. */
#include "util/jsonc.h"

#include <string.h>

#include "tests/lib/assert.h"

static void parses(const char *text, struct al_jsonc *doc)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (al_jsonc_parse(text, strlen(text), doc, &err) < 0)
        fail_msg("%s: %s", text, err.message);
}

static void refuses(const char *text, const char *wanted)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_jsonc doc = AL_JSONC_INIT;

    assert_int_equal(al_jsonc_parse(text, strlen(text), &doc, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, wanted);
    assert_null(doc.nodes);
}

static void assert_value(const struct al_jsonc *doc, size_t node, const char *wanted)
{
    const struct al_jsonc_node *value = &doc->nodes[node];
    al_auto(al_freep) char *text = al_strndup(doc->text + value->begin, value->end - value->begin);

    assert_string_equal(text, wanted);
}

static void members_know_where_they_are(void **state)
{
    static const char text[] = "// head\n{ \"a\": 1, /* x */ \"b\\u0062\": [ 2, {}, ], }\n// end";
    al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;
    size_t a, b;

    (void)state;
    parses(text, &doc);
    a = al_jsonc_member(&doc, 0, "a", NULL);
    b = al_jsonc_member(&doc, 0, "bb", NULL);
    assert_value(&doc, a, "1");
    assert_value(&doc, b, "[ 2, {}, ]");
    assert_int_equal(doc.nodes[0].count, 2);
    assert_int_equal(doc.nodes[0].last, b);
    assert_int_equal(doc.text[doc.nodes[a].comma_end - 1], ',');
    assert_int_equal(doc.nodes[b].count, 2);
    assert_value(&doc, doc.nodes[b].last, "{}");
    assert_int_equal(al_jsonc_member(&doc, 0, "c", NULL), 0);
    assert_int_equal(al_jsonc_member(&doc, b, "a", NULL), 0);
}

static void plain_json_has_no_comments(void **state)
{
    static const char text[] =
        "\xEF\xBB\xBF{\"a\": /* 1 */ \"//\\\"/*\", // x\r\n\"b\": [true, null, -1.5e3,],}";
    al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;
    al_auto(al_str_clear) struct al_str strict = AL_STR_INIT;

    (void)state;
    parses(text, &doc);
    al_jsonc_strict(&doc, 0, &strict);
    assert_string_equal(strict.buf, "{\"a\":\"//\\\"/*\",\"b\":[true,null,-1.5e3]}");
}

static void a_name_that_comes_twice_is_told(void **state)
{
    al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;
    bool again;

    (void)state;
    parses("{\"a\": 1, \"\\u0061\": 2, \"b\": 3}", &doc);
    assert_value(&doc, al_jsonc_member(&doc, 0, "a", &again), "1");
    assert_true(again);
    assert_value(&doc, al_jsonc_member(&doc, 0, "b", &again), "3");
    assert_false(again);
}

static void what_is_no_json_is_refused_with_its_line(void **state)
{
    (void)state;
    refuses("", "line 1: the text ends too early");
    refuses("{\n\"a\": }", "line 2: a value is missing");
    refuses("{\"a\" 1}", "line 1: ':' is missing after the name of a member");
    refuses("{\n\n\"a\": 1 \"b\": 2}", "line 3: ',' is missing between two values");
    refuses("{a: 1}", "line 1: the name of a member is missing");
    refuses("[1, 2", "line 1: the text ends too early");
    refuses("[,]", "line 1: a value is missing");
    refuses("{} x", "line 1: there is more text after the value");
    refuses("\"a\nb\"", "line 1: a string does not end on its line");
    refuses("\"\\", "line 1: a string does not end");
    refuses("[01]", "line 1: this is no value of JSON");
    refuses("[nul]", "line 1: this is no value of JSON");
    refuses("[\"\\x\"]", "line 1: this is no value of JSON");
    refuses("[1] /* ", "line 1: there is more text after the value");
    refuses("[\"\xFF\"]", "line 1: this is no value of JSON");
}

static void nesting_is_limited(void **state)
{
    char text[2 * (AL_JSONC_DEPTH_MAX + 1) + 1];

    (void)state;
    for (int depth = AL_JSONC_DEPTH_MAX - 1; depth <= AL_JSONC_DEPTH_MAX + 1; depth++) {
        al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;

        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        if (depth <= AL_JSONC_DEPTH_MAX)
            parses(text, &doc);
        else
            refuses(text, "line 1: it is nested too deeply");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_know_where_they_are),
        cmocka_unit_test(plain_json_has_no_comments),
        cmocka_unit_test(a_name_that_comes_twice_is_told),
        cmocka_unit_test(what_is_no_json_is_refused_with_its_line),
        cmocka_unit_test(nesting_is_limited),
    };

    return cmocka_run_group_tests_name("util/jsonc", tests, NULL, NULL);
}
