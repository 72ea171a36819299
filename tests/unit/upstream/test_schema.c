// SPDX-License-Identifier: Apache-2.0
/* upstream/schema.c, upstream/pattern.c: what a client's compiler of schemas would refuse. */
#include "upstream/schema.h"

#include "tests/lib/assert.h"
#include "upstream/limits.h"

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

    if (!value)
        fail_msg("%s", text);
    return value;
}

/* The problem of a schema with one property, which is `schema`. */
static const char *problem_of(const char *schema, bool patterns)
{
    al_auto(al_freep) char *text = al_asprintf(
        "{\"type\":\"object\",\"properties\":{\"a\":%s},\"$defs\":{\"b\":{\"type\":\"null\"},"
        "\"c\":true}}",
        schema);
    al_auto(al_json_decrefp) json_t *value = parse(text);

    return al_upstream_schema_problem(value, patterns);
}

static void schemas_are_accepted(void **state)
{
    static const char *const good[] = {
        "true",
        "{}",
        "{\"type\":\"string\"}",
        "{\"type\":[\"string\",\"null\"]}",
        "{\"enum\":[1,null]}",
        "{\"const\":{}}",
        "{\"required\":[]}",
        "{\"required\":[\"x\"]}",
        "{\"minLength\":0}",
        "{\"minimum\":-1.5}",
        "{\"items\":{\"type\":\"array\"}}",
        "{\"items\":[{\"type\":\"array\"}]}",
        "{\"items\":false}",
        "{\"anyOf\":[{\"type\":\"string\"},true]}",
        "{\"$ref\":\"#\"}",
        "{\"$ref\":\"#/$defs/b\"}",
        "{\"$ref\":\"#/$defs/c\"}",
        "{\"additionalProperties\":false}",
        "{\"pattern\":\"^a$\"}",
        "{\"patternProperties\":{\"^a\":{}}}",
        "{\"x-mine\":[]}",
        "{\"description\":\"\"}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        if (problem_of(good[i], true))
            fail_msg("%s: %s", good[i], problem_of(good[i], true));
}

static void what_does_not_compile_is_refused(void **state)
{
    static const char *const bad[] = {
        "1",
        "null",
        "[]",
        "{\"type\":\"strin\"}",
        "{\"type\":[]}",
        "{\"type\":[\"string\",1]}",
        "{\"type\":null}",
        "{\"enum\":[]}",
        "{\"enum\":{}}",
        "{\"required\":true}",
        "{\"required\":[1]}",
        "{\"minLength\":-1}",
        "{\"minLength\":1.5}",
        "{\"minimum\":\"1\"}",
        "{\"exclusiveMinimum\":true}",
        "{\"uniqueItems\":1}",
        "{\"items\":[]}",
        "{\"items\":\"string\"}",
        "{\"anyOf\":[]}",
        "{\"anyOf\":{}}",
        "{\"anyOf\":[1]}",
        "{\"properties\":[]}",
        "{\"properties\":{\"x\":1}}",
        "{\"$ref\":1}",
        "{\"$ref\":\"#/$defs/x\"}",
        "{\"$ref\":\"#anchor\"}",
        "{\"$ref\":\"other.json\"}",
        "{\"$ref\":\"https://x.test/s\"}",
        "{\"$ref\":\"#/$defs/b/type\"}",
        "{\"not\":{\"not\":{\"type\":7}}}",
        "{\"description\":7}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        if (!problem_of(bad[i], true))
            fail_msg("%s", bad[i]);
}

static void only_objects_describe_arguments(void **state)
{
    static const struct {
        const char *text, *problem;
    } rows[] = {
        { "{\"type\":\"object\"}", NULL },
        { "{}", "does not have the type object" },
        { "{\"type\":\"string\"}", "does not have the type object" },
        { "{\"type\":[\"object\"]}", "does not have the type object" },
        { "[]", "is no object" },
        { "true", "is no object" },
        { "null", "is no object" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_json_decrefp) json_t *value = parse(rows[i].text);
        const char *problem = al_upstream_schema_problem(value, true);

        if (rows[i].problem)
            assert_string_equal(problem, rows[i].problem);
        else
            assert_null(problem);
    }
    assert_string_equal(al_upstream_schema_problem(NULL, true), "is no object");
}

/* {"type":"object","description":"xx…"} of so many bytes. */
static const char *problem_at(size_t bytes)
{
    al_auto(al_json_decrefp) json_t *schema = parse("{\"type\":\"object\",\"description\":\"\"}");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    size_t empty;

    al_json_dump(schema, false, &text);
    empty = text.len;
    al_str_reset(&text);
    while (text.len < bytes - empty)
        al_str_addc(&text, 'x');
    al_json_set(schema, "description", al_json_stringn(text.buf, text.len));
    return al_upstream_schema_problem(schema, true);
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    assert_null(problem_at(AL_UPSTREAM_SCHEMA_MAX_BYTES - 1));
    assert_null(problem_at(AL_UPSTREAM_SCHEMA_MAX_BYTES));
    assert_string_equal(problem_at(AL_UPSTREAM_SCHEMA_MAX_BYTES + 1), "is too large");
}

static void depth_is_bounded(void **state)
{
    (void)state;
    for (int levels = AL_UPSTREAM_SCHEMA_MAX_DEPTH - 1; levels <= AL_UPSTREAM_SCHEMA_MAX_DEPTH + 1;
         levels++) {
        al_auto(al_json_decrefp) json_t *schema = parse("{\"type\":\"object\"}");
        json_t *value = al_json_bool(true);

        for (int i = 1; i < levels; i++) {
            json_t *outer = al_json_object();

            al_json_set(outer, "not", value);
            value = outer;
        }
        al_json_set(schema, "not", value);
        if (levels <= AL_UPSTREAM_SCHEMA_MAX_DEPTH)
            assert_null(al_upstream_schema_problem(schema, true));
        else
            assert_string_equal(al_upstream_schema_problem(schema, true), "is nested too deeply");
    }
}

static void patterns_are_left_to_those_who_compile_them(void **state)
{
    (void)state;
    assert_null(problem_of("{\"pattern\":\"(\"}", true));
    assert_non_null(problem_of("{\"pattern\":\"a\"}", false));
    assert_non_null(problem_of("{\"pattern\":7}", true));
    assert_non_null(problem_of("{\"patternProperties\":{\"a\":{}}}", false));
    assert_null(problem_of("{\"patternProperties\":{\"(\":{}}}", true));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_are_accepted),
        cmocka_unit_test(what_does_not_compile_is_refused),
        cmocka_unit_test(only_objects_describe_arguments),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(patterns_are_left_to_those_who_compile_them),
    };

    return cmocka_run_group_tests_name("upstream/schema", tests, NULL, NULL);
}
