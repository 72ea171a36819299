// SPDX-License-Identifier: Apache-2.0
/* call/rows.c and summary.c: the first operation that applies to the arguments is selected; the
 * summary is written from them; which have no effect, and an example of a result as a schema. */
#include "call/private.h"

#include "tests/lib/assert.h"

enum { PUSH, POP, DROP };

struct sample_args {
    bool quiet;
    int action;
    const char *name;
    struct al_strv files;
    struct al_opt_int count;
};

static const struct al_choice actions[] = {
    { "push", PUSH },
    { "pop", POP },
    { "drop", DROP },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_BOOL(struct sample_args, quiet, NULL, .unless = "count"),
    AL_CHOICE(struct sample_args, action, NULL, .choices = actions),
    AL_STRING_AS(struct sample_args, name, "newName", NULL, .actions = "pop drop"),
    AL_STRINGS(struct sample_args, files, NULL, .actions = "push"),
    AL_INT(struct sample_args, count, NULL, .max = 9),
};

static bool is_quiet(const struct al_call *call, const void *p)
{
    (void)call;
    return ((const struct sample_args *)p)->quiet;
}

static const struct al_operation operations[] = {
    { .name = "quiet", .applies = is_quiet },
    { .name = "pop" },
    { .name = "push" },
};

static const struct al_tool sample = {
    .args_size = sizeof(struct sample_args),
    AL_TOOL_ROWS(params, operations),
    .words = AL_WORDS_EVERYDAY,
    .summary = "{action}[quiet? quietly][!quiet?[action=push? loudly]][!action=push? {^new_name}]"
               "[files?: {#files file}, {files:2}][count? {count}]",
};

static void the_first_operation_that_applies_is_selected(void **state)
{
    struct sample_args args = { .quiet = true, .action = POP };

    (void)state;
    assert_string_equal(al_tool_select(&sample, NULL, &args)->name, "quiet");
    args.quiet = false;
    assert_string_equal(al_tool_select(&sample, NULL, &args)->name, "pop");
    args.action = DROP; /* no row has its name */
    assert_string_equal(al_tool_select(&sample, NULL, &args)->name, "push");
}

static void the_summary_has_the_arguments(void **state)
{
    static const struct {
        const char *arguments, *summary;
    } facts[] = {
        { "{}", "push loudly" },
        { "{\"quiet\": true}", "push quietly" },
        { "{\"action\": \"pop\"}", "pop " },
        { "{\"action\": \"pop\", \"newName\": \"a\\nb\", \"count\": 3}", "pop a 3" },
        { "{\"files\": [\"a\"]}", "push loudly: 1 file, a" },
        { "{\"files\": [\"a\", \"b\", \"c\"]}", "push loudly: 3 files, a, b..." },
    };
    static const struct al_tool_defaults defaults = { .timeout_ms = 1 };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        al_auto(al_json_decrefp) json_t *given = json_loads(facts[i].arguments, 0, NULL);
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
        struct sample_args args;

        assert_int_equal(al_tool_decode(&sample, given, &defaults, &args, NULL), 0);
        al_tool_write_summary(&sample, &args, &out);
        assert_string_equal(out.buf, facts[i].summary);
        al_tool_args_clear(&sample, &args);
    }
}

static void what_has_no_effect_is_refused_or_told(void **state)
{
    static const struct al_tool_defaults defaults = { .timeout_ms = 1 };
    al_auto(al_json_decrefp) json_t *given =
        json_loads("{\"quiet\": true, \"count\": 1, \"newName\": \"x\"}", 0, NULL);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str ignored = AL_STR_INIT;
    struct al_tool plain = sample;
    struct sample_args args;

    (void)state;
    assert_int_equal(al_tool_decode(&sample, given, &defaults, &args, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "newName has no meaning for action push");
    plain.words = AL_WORDS_PLAIN;
    assert_int_equal(al_tool_decode(&plain, given, &defaults, &args, NULL), 0);
    al_args_note_ignored(&plain, &args, &ignored);
    assert_string_equal(ignored.buf, "airlock: ignored: quiet, newName, since count is given");
    al_tool_args_clear(&plain, &args);
}

static void makes(const char *example, const char *schema)
{
    const struct al_tool tool = { .output_schema = example };
    al_auto(al_json_decrefp) json_t *made = al_tool_output_schema(&tool);
    al_auto(al_json_decrefp) json_t *expected = json_loads(schema, 0, NULL);

    assert_non_null(expected);
    assert_true(json_equal(made, expected));
}

static void an_example_is_a_schema(void **state)
{
    (void)state;
    makes(
        AL_JSON({ "a" : "", "b?" : 1, "c" : [true], "d" : "x|y", "e" : { "f" : 1.5 } }),
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
        "\"b\":{\"type\":\"integer\"},\"c\":{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}},"
        "\"d\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"]},"
        "\"e\":{\"type\":\"object\",\"properties\":{\"f\":{\"type\":\"number\"}},"
        "\"required\":[\"f\"]}},\"required\":[\"a\",\"c\",\"d\",\"e\"]}");
    makes(AL_JSON([ { "a" : "" }, { "b?" : 1 } ]),
          "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
          "\"b\":{\"type\":\"integer\"}},\"anyOf\":["
          "{\"properties\":{\"a\":{}},\"required\":[\"a\"]},"
          "{\"properties\":{\"b\":{}},\"required\":[]}]}");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_operation_that_applies_is_selected),
        cmocka_unit_test(the_summary_has_the_arguments),
        cmocka_unit_test(what_has_no_effect_is_refused_or_told),
        cmocka_unit_test(an_example_is_a_schema),
    };

    return cmocka_run_group_tests_name("tool/operation", tests, NULL, NULL);
}
