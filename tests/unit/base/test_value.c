// SPDX-License-Identifier: Apache-2.0
/* base/value.h: a tree whose values know their line, and refusals that name file, line and key. */
#include "base/value.h"

#include "base/str.h"
#include "tests/lib/assert.h"

static int read_text(const char *text, size_t len, struct al_value *yaml, struct al_error *err)
{
    return al_yaml_read("f", 2, text, len, yaml, err);
}

static void reads(const char *text, struct al_value *yaml)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (read_text(text, strlen(text), yaml, &err) < 0)
        fail_msg("%s", err.message);
}

static void refuses_bytes(const char *text, size_t len, const char *wanted)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_value yaml = { .line = 77 };

    assert_int_equal(read_text(text, len, &yaml, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, wanted);
    assert_int_equal(yaml.line, 77);
}

static void refuses(const char *text, const char *wanted)
{
    refuses_bytes(text, strlen(text), wanted);
}

static void values_know_their_type_line_and_key(void **state)
{
    al_auto(al_value_clear) struct al_value yaml = { .file = NULL };
    const struct al_value *pulls, *source;

    (void)state;
    reads("name: report-writer # a comment\n"
          "toolsets:\n"
          "  git:\n"
          "    auto_pull:\n"
          "      - path: templates/\n"
          "        source: {type: local,\n"
          "                 path: \".\"}\n"
          "      - path: 'it''s'\n",
          &yaml);
    assert_int_equal(yaml.type, AL_VALUE_MAPPING);
    assert_string_equal(yaml.key, "");
    assert_string_equal(al_value_get(&yaml, "name")->text, "report-writer");
    assert_int_equal(al_value_get(&yaml, "name")->line, 2);
    assert_null(al_value_get(&yaml, "nam"));
    pulls = al_value_get(al_value_get(al_value_get(&yaml, "toolsets"), "git"), "auto_pull");
    assert_int_equal(pulls->type, AL_VALUE_LIST);
    assert_int_equal(pulls->count, 2);
    source = al_value_get(&pulls->items[0], "source");
    assert_int_equal(source->line, 7);
    assert_int_equal(al_value_get(source, "path")->line, 8);
    assert_string_equal(al_value_get(source, "path")->key, "toolsets.git.auto_pull[0].source.path");
    assert_string_equal(al_value_get(&pulls->items[1], "path")->text, "it's");
}

static void scalars_have_the_types_of_the_core_schema(void **state)
{
    static const struct {
        const char *text;
        enum al_value_type type;
    } cases[] = {
        { "a", AL_VALUE_STRING },
        { "1a", AL_VALUE_STRING },
        { "2025-01-02", AL_VALUE_STRING },
        { "1.2.3", AL_VALUE_STRING },
        { "yes", AL_VALUE_STRING },
        { "-", AL_VALUE_LIST },
        { ".", AL_VALUE_STRING },
        { "+", AL_VALUE_STRING },
        { "1e", AL_VALUE_STRING },
        { "0x", AL_VALUE_STRING },
        { "0xg", AL_VALUE_STRING },
        { "0o8", AL_VALUE_STRING },
        { "''", AL_VALUE_STRING },
        { "\"1\"", AL_VALUE_STRING },
        { "'null'", AL_VALUE_STRING },
        { "|\n  x", AL_VALUE_STRING },
        { "1", AL_VALUE_NUMBER },
        { "-12", AL_VALUE_NUMBER },
        { "+1.5", AL_VALUE_NUMBER },
        { ".5", AL_VALUE_NUMBER },
        { "1.", AL_VALUE_NUMBER },
        { "1e3", AL_VALUE_NUMBER },
        { "1.5E-3", AL_VALUE_NUMBER },
        { "0x1F", AL_VALUE_NUMBER },
        { "0o17", AL_VALUE_NUMBER },
        { "-.inf", AL_VALUE_NUMBER },
        { ".nan", AL_VALUE_NUMBER },
        { "true", AL_VALUE_BOOL },
        { "False", AL_VALUE_BOOL },
        { "tRUE", AL_VALUE_STRING },
        { "", AL_VALUE_NULL },
        { "~", AL_VALUE_NULL },
        { "null", AL_VALUE_NULL },
        { "[]", AL_VALUE_LIST },
        { "{}", AL_VALUE_MAPPING },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_value_clear) struct al_value yaml = { .file = NULL };
        al_auto(al_freep) char *text = al_asprintf("k: %s\n", cases[i].text);

        if (cases[i].type == AL_VALUE_LIST && !strcmp(cases[i].text, "-")) {
            refuses(text, "f:2: block sequence entries are not allowed in this context");
            continue;
        }
        reads(text, &yaml);
        if (yaml.items[0].type != cases[i].type)
            fail_msg("'%s' is of type %d", cases[i].text, (int)yaml.items[0].type);
    }
}

static void nothing_and_line_ends_of_other_systems(void **state)
{
    static const char *const empty[] = { "", "\n", "# only a comment\n", "\r\n" };

    (void)state;
    for (size_t i = 0; i < COUNT(empty); i++) {
        al_auto(al_value_clear) struct al_value yaml = { .type = AL_VALUE_LIST };

        reads(empty[i], &yaml);
        assert_int_equal(yaml.type, AL_VALUE_NULL);
    }
    {
        al_auto(al_value_clear) struct al_value yaml = { .file = NULL };

        reads("a: b\r\nc:\r\n  d: e\r\n", &yaml);
        assert_string_equal(yaml.items[0].text, "b");
        assert_int_equal(yaml.items[1].items[0].line, 4);
    }
}

static void refuses_what_settings_do_not_need(void **state)
{
    (void)state;
    refuses("a: &x 1\n", "f:2: an anchor is not read; write the value itself");
    refuses("a: &x [1]\n", "f:2: an anchor is not read; write the value itself");
    refuses("&x a: 1\n", "f:2: an anchor is not read; write the value itself");
    refuses("\na: *x\n", "f:3: an alias is not read; write the value itself");
    refuses("*x : 1\n", "f:2: an alias is not read; write the value itself");
    refuses("a: !!str 1\n", "f:2: a tag is not read; leave it out");
    refuses("a: !!python/object {}\n", "f:2: a tag is not read; leave it out");
    refuses("a: 1\n---\nb: 2\n", "f:3: a second document begins");
    refuses("a: 1\n...\n---\nb: 2\n", "f:4: a second document begins");
    refuses("a: 1\nb:\n  c: 1\n  c: 2\n", "f:5: b.c: is there twice");
    refuses("a: 1\n\"a\": 2\n", "f:3: a: is there twice");
    refuses("[1]: 2\n", "f:2: a key must be a word");
    refuses("? {a: b}\n: 2\n", "f:2: a key must be a word");
    refuses("a: \"x\\0y\"\n", "f:2: a: must not contain a NUL");
    refuses("\"x\\0y\": a\n", "f:2: x: must not contain a NUL");
}

static void refuses_what_is_no_yaml(void **state)
{
    (void)state;
    refuses("a:\n\tb: 1\n", "f:3: indented with a tab; indent with spaces");
    refuses("a: [1\n", "f:3: did not find expected ',' or ']'");
    refuses("a: b: c\n", "f:2: mapping values are not allowed in this context");
    refuses("ok: 1\na: \"\xff\"\n", "f:3: not UTF-8");
    refuses("ok: 1\n\xc3", "f:3: not UTF-8");
    refuses("ok: 1\na: \x1b[2J\n", "f:3: control characters are not allowed");
    refuses_bytes("a: 1\n\0", 6, "f:3: control characters are not allowed");
    refuses("%YAML 1.2\na: 1\n", "f:3: did not find expected <document start>");
}

/* "[[…]]", `depth` levels. */
static char *nested(unsigned depth)
{
    struct al_str text = AL_STR_INIT;

    for (unsigned i = 0; i < depth; i++)
        al_str_addc(&text, '[');
    for (unsigned i = 0; i < depth; i++)
        al_str_addc(&text, ']');
    return al_str_detach(&text);
}

static void depth_and_number_of_values_are_limited(void **state)
{
    (void)state;
    for (unsigned depth = AL_YAML_DEPTH_MAX - 1; depth <= AL_YAML_DEPTH_MAX + 1; depth++) {
        al_auto(al_value_clear) struct al_value yaml = { .file = NULL };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *text = nested(depth);
        int r = read_text(text, strlen(text), &yaml, &err);

        assert_int_equal(r, depth <= AL_YAML_DEPTH_MAX ? 0 : AL_ERR_BAD_ARGS);
        if (r < 0)
            assert_non_null(strstr(err.message, "is more than 12 levels deep"));
    }
    for (unsigned count = AL_YAML_VALUES_MAX - 2; count <= AL_YAML_VALUES_MAX; count++) {
        al_auto(al_value_clear) struct al_value yaml = { .file = NULL };
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        for (unsigned i = 0; i < count; i++)
            al_str_adds(&text, "- a\n");
        /* The list is a value, too. */
        assert_int_equal(read_text(text.buf, text.len, &yaml, &err),
                         count < AL_YAML_VALUES_MAX ? 0 : AL_ERR_BAD_ARGS);
    }
}

static void the_length_of_a_name_is_limited(void **state)
{
    (void)state;
    for (size_t len = AL_YAML_NAME_MAX_BYTES - 1; len <= AL_YAML_NAME_MAX_BYTES + 1; len++) {
        al_auto(al_value_clear) struct al_value yaml = { .file = NULL };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        /* libyaml takes a longer name only as a key that is marked as one. */
        al_auto(al_freep) char *text = al_asprintf("? %0*d\n: 1\n", (int)len, 1);

        assert_int_equal(read_text(text, strlen(text), &yaml, &err),
                         len <= AL_YAML_NAME_MAX_BYTES ? 0 : AL_ERR_BAD_ARGS);
    }
}

static void checks_name_the_value_and_what_it_should_be(void **state)
{
    static const char *const names[] = { "path", "number", NULL };
    al_auto(al_value_clear) struct al_value yaml = { .file = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const char *text = "unset";

    (void)state;
    reads("path: abc\nnumber: 12\npaht: ''\nfar: [1, 2]\n", &yaml);
    assert_int_equal(al_value_check_names(&yaml, names, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "f:4: paht: unknown key, did you mean 'path'?");
    assert_int_equal(al_value_check_names(&yaml.items[0], names, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "f:2: path: must be a mapping, not a string");
    assert_int_equal(al_value_get_string(&yaml, "path", 3, &text, &err), 0);
    assert_string_equal(text, "abc");
    assert_int_equal(al_value_get_string(&yaml, "absent", 3, &text, &err), 0);
    assert_null(text);
    assert_int_equal(al_value_get_string(&yaml, "path", 2, &text, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "f:2: path: must be at most 2 bytes");
    assert_int_equal(al_value_get_string(&yaml, "paht", 2, &text, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "f:4: paht: must not be empty");
    assert_int_equal(al_value_get_string(&yaml, "number", 9, &text, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message,
                        "f:3: number: must be a string, not a number; put it in quotes");
    assert_int_equal(al_value_check_list(&yaml.items[3], 2, 2, &err), 0);
    assert_int_equal(al_value_check_list(&yaml.items[3], 0, 1, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "f:5: far: must have between 0 and 1 items");
    assert_int_equal(al_value_check_list(&yaml.items[3], 3, 4, &err), AL_ERR_BAD_ARGS);
    assert_int_equal(al_value_check_list(&yaml.items[0], 0, 4, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "f:2: path: must be a list, not a string");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_know_their_type_line_and_key),
        cmocka_unit_test(scalars_have_the_types_of_the_core_schema),
        cmocka_unit_test(nothing_and_line_ends_of_other_systems),
        cmocka_unit_test(refuses_what_settings_do_not_need),
        cmocka_unit_test(refuses_what_is_no_yaml),
        cmocka_unit_test(depth_and_number_of_values_are_limited),
        cmocka_unit_test(the_length_of_a_name_is_limited),
        cmocka_unit_test(checks_name_the_value_and_what_it_should_be),
    };

    return cmocka_run_group_tests_name("util/yaml", tests, NULL, NULL);
}
