// SPDX-License-Identifier: Apache-2.0
/* call/rows.c: the arguments that reach a handler are typed, bounded and complete. */
#include "tests/unit/call/decode_lib.h"

static void no_arguments_give_the_defaults(void **state)
{
    struct decoded d;
    struct sample_args args;

    (void)state;
    accepts("{}", &d);
    assert_true(d.args.verbose);
    assert_false(d.args.quiet);
    assert_false(d.args.lines.given);
    assert_int_equal(d.args.lines.value, 0);
    assert_false(d.args.depth.given);
    assert_int_equal(d.args.depth.value, 3);
    assert_int_equal(d.args.max_bytes.value, 7000);
    assert_int_equal(d.args.timeout_ms.value, 20000);
    assert_null(d.args.message);
    assert_string_equal(d.args.commit, "HEAD");
    assert_int_equal(d.args.paths.count, 0);
    assert_int_equal(d.args.action, POP);
    release(&d);

    memset(&args, 0xff, sizeof(args));
    assert_int_equal(al_tool_decode(&sample, NULL, &defaults, &args, NULL), 0);
    assert_string_equal(args.commit, "HEAD");
    assert_int_equal(args.paths.count, 0);
    al_tool_args_clear(&sample, &args);
}

static void values_reach_their_fields(void **state)
{
    struct decoded d;

    (void)state;
    accepts("{\"verbose\":false,\"quiet\":true,\"lines\":10,\"depth\":0,\"offset\":-5,"
            "\"max_bytes\":1,\"timeout_ms\":100,\"message\":\"fix it\",\"kind\":\"feat\","
            "\"commit\":\"abc\",\"working_dir\":\"src\",\"paths\":[\"a\",\"b c\"],"
            "\"action\":\"push\"}",
            &d);
    assert_false(d.args.verbose);
    assert_true(d.args.quiet);
    assert_true(d.args.lines.given);
    assert_int_equal(d.args.lines.value, 10);
    assert_true(d.args.depth.given);
    assert_int_equal(d.args.depth.value, 0);
    assert_int_equal(d.args.offset.value, -5);
    assert_int_equal(d.args.max_bytes.value, 1);
    assert_int_equal(d.args.timeout_ms.value, 100);
    assert_string_equal(d.args.message, "fix it");
    assert_string_equal(d.args.kind, "feat");
    assert_string_equal(d.args.commit, "abc");
    assert_string_equal(d.args.working_dir, "src");
    assert_int_equal(d.args.paths.count, 2);
    assert_string_equal(d.args.paths.items[1], "b c");
    assert_int_equal(d.args.action, PUSH);
    release(&d);
}

static void clearing_twice_is_harmless(void **state)
{
    struct decoded d;

    (void)state;
    accepts("{\"paths\":[\"a\"]}", &d);
    al_tool_args_clear(&sample, &d.args);
    assert_int_equal(d.args.paths.count, 0);
    release(&d);
}

static void only_an_object_is_arguments(void **state)
{
    static const char *const others[] = { "[]", "null", "\"x\"", "1", "true" };

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        says(others[i], "Invalid arguments: arguments must be an object");
}

static void a_missing_required_parameter_is_named(void **state)
{
    static const struct al_param required[] = {
        AL_STRINGS(struct sample_args, paths, "Files.", .flags = AL_PARAM_REQUIRED, .min = 1,
                   .max = 3, .max_bytes = 4),
        AL_STRING(struct sample_args, kind, "Kind.", .flags = AL_PARAM_REQUIRED, .max_bytes = 4),
    };
    const struct al_tool tool = { .name = "sample",
                                  .params = required,
                                  .nparams = AL_COUNT(required),
                                  .args_size = sizeof(struct sample_args) };
    struct decoded d;

    (void)state;
    assert_int_equal(decode_tool(&d, &tool, "{\"kind\":\"x\"}"), AL_ERR_BAD_ARGS);
    assert_string_equal(d.err.message, "paths is required");
    release(&d);
    assert_int_equal(decode_tool(&d, &tool, "{\"paths\":[\"a\"]}"), AL_ERR_BAD_ARGS);
    assert_string_equal(d.err.message, "kind is required");
    release(&d);
    assert_int_equal(decode_tool(&d, &tool, "{\"paths\":[],\"kind\":\"x\"}"), AL_ERR_BAD_ARGS);
    assert_string_equal(d.err.message, "paths must contain at least 1 element(s)");
    release(&d);
    assert_int_equal(decode_tool(&d, &tool, "{\"paths\":[\"a\"],\"kind\":\"x\"}"), 0);
    release(&d);
}

static void a_wrong_type_names_the_parameter_and_the_right_type(void **state)
{
    (void)state;
    says("{\"verbose\":\"yes\"}", "Invalid arguments: 'verbose' must be a boolean");
    says("{\"verbose\":1}", "Invalid arguments: 'verbose' must be a boolean");
    says("{\"verbose\":null}", "Invalid arguments: 'verbose' must be a boolean");
    says("{\"lines\":\"3\"}", "Invalid arguments: 'lines' must be an integer");
    says("{\"lines\":true}", "Invalid arguments: 'lines' must be an integer");
    says("{\"message\":7}", "Invalid arguments: 'message' must be a string");
    says("{\"message\":[\"a\"]}", "Invalid arguments: 'message' must be a string");
    says("{\"paths\":\"a\"}", "Invalid arguments: 'paths' must be an array of strings");
    says("{\"paths\":[\"a\",1]}", "Invalid arguments: 'paths' must be an array of strings");
    says("{\"paths\":[null]}", "Invalid arguments: 'paths' must be an array of strings");
    says("{\"action\":\"shove\"}", "Invalid arguments: 'action' must be one of: push, pop");
    says("{\"action\":\"PUSH\"}", "Invalid arguments: 'action' must be one of: push, pop");
    says("{\"action\":\"push\\u0000\"}", "Invalid arguments: 'action' must be one of: push, pop");
    says("{\"action\":0}", "Invalid arguments: 'action' must be one of: push, pop");
}

static void unknown_parameters_are_refused_with_the_valid_ones(void **state)
{
    static const char valid[] =
        "verbose, quiet, lines, depth, offset, max_bytes, timeout_ms, message, kind, commit, "
        "working_dir, paths, action";
    char expected[512];

    (void)state;
    (void)snprintf(expected, sizeof(expected),
                   "Invalid arguments: unknown parameter 'Verbose'; did you mean 'verbose'? "
                   "(sample takes: %s)",
                   valid);
    says("{\"Verbose\":true}", expected);
    (void)snprintf(expected, sizeof(expected),
                   "Invalid arguments: unknown parameter '' (sample takes: %s)", valid);
    says("{\"\":1}", expected);
}

static void an_unknown_name_is_made_safe_and_cut(void **state)
{
    const struct al_tool none = { .name = "bare", .args_size = sizeof(struct sample_args) };
    struct decoded d;
    char text[400];

    (void)state;
    assert_int_equal(decode_tool(&d, &none, "{\"a\\u001b[31mb\\n\":1}"), AL_ERR_BAD_ARGS);
    assert_null(strpbrk(d.err.message, "\033\n"));
    assert_non_null(strstr(d.err.message, "(bare takes: none)"));
    release(&d);

    (void)snprintf(text, sizeof(text), "{\"%063d\\u00e9%0200d\":1}", 0, 0);
    assert_int_equal(decode_tool(&d, &none, text), AL_ERR_BAD_ARGS);
    (void)snprintf(text, sizeof(text),
                   "Invalid arguments: unknown parameter '%063d' (bare takes: none)", 0);
    assert_string_equal(d.err.message, text);
    release(&d);
}

static void cross_checks_run_last(void **state)
{
    (void)state;
    says("{\"quiet\":true}", "verbose and quiet are mutually exclusive");
    says("{\"quiet\":true,\"paths\":[\"a\"]}", "verbose and quiet are mutually exclusive");
    says("{\"quiet\":true,\"lines\":0}", "lines must be at least 1");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_arguments_give_the_defaults),
        cmocka_unit_test(values_reach_their_fields),
        cmocka_unit_test(clearing_twice_is_harmless),
        cmocka_unit_test(only_an_object_is_arguments),
        cmocka_unit_test(a_missing_required_parameter_is_named),
        cmocka_unit_test(a_wrong_type_names_the_parameter_and_the_right_type),
        cmocka_unit_test(unknown_parameters_are_refused_with_the_valid_ones),
        cmocka_unit_test(an_unknown_name_is_made_safe_and_cut),
        cmocka_unit_test(cross_checks_run_last),
    };

    return cmocka_run_group_tests_name("tool/decode", tests, NULL, NULL);
}
