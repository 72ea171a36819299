// SPDX-License-Identifier: Apache-2.0
/* tool/decode.c: the arguments that reach a handler are typed, bounded and complete. */
#include "tool/tool.h"

#include "tests/lib/assert.h"

struct sample_args {
    bool verbose, quiet;
    struct al_opt_int lines, depth, offset, max_bytes, timeout_ms;
    const char *message, *kind, *commit, *working_dir;
    struct al_strv paths;
    int action;
};

enum { PUSH, POP };

static const struct al_choice actions[] = { { "push", PUSH }, { "pop", POP }, { NULL, 0 } };

static const struct al_param rows[] = {
    AL_BOOL(struct sample_args, verbose, "Say more.", .default_int = 1),
    AL_BOOL(struct sample_args, quiet, "Say less.", .default_int = 0),
    AL_INT(struct sample_args, lines, "Lines.", .min = 1, .max = 10),
    AL_INT(struct sample_args, depth, "Depth.", .flags = AL_PARAM_HAS_DEFAULT, .default_int = 3,
           .max = 9, .bad_message = "depth is one digit"),
    AL_INT(struct sample_args, offset, "Offset.", .min = -5, .max = INT64_C(1) << 53),
    AL_INT(struct sample_args, max_bytes, "Cap.", .flags = AL_PARAM_MAX_BYTES, .min = 1,
           .max = 5000000),
    AL_INT(struct sample_args, timeout_ms, "Deadline.", .flags = AL_PARAM_TIMEOUT, .min = 100,
           .max = 600000),
    AL_STRING(struct sample_args, message, "Message.", .min_bytes = 1, .max_bytes = 8),
    AL_STRING(struct sample_args, kind, "Kind.", .pattern = "^[a-z]+$", .max_bytes = 16,
              .bad_message = "kind must be lowercase letters only"),
    AL_STRING(struct sample_args, commit, "Commit.", .flags = AL_PARAM_HAS_DEFAULT,
              .default_str = "HEAD", .max_bytes = 64, .pattern = "^[A-Za-z0-9]*$"),
    AL_STRING(struct sample_args, working_dir, "Where.", .max_bytes = 64),
    AL_STRINGS(struct sample_args, paths, "Files.", .min = 1, .max = 3, .max_bytes = 4,
               .bad_message = "paths must contain at least one element"),
    AL_CHOICE(struct sample_args, action, "Action.", .choices = actions, .default_int = POP),
};

static int check_sample(const void *p, struct al_error *err)
{
    const struct sample_args *args = p;

    if (args->verbose && args->quiet)
        return al_error_set(err, AL_ERR_BAD_ARGS, "verbose and quiet are mutually exclusive");
    return 0;
}

static const struct al_tool sample = {
    .name = "sample",
    .params = rows,
    .nparams = AL_COUNT(rows),
    .args_size = sizeof(struct sample_args),
    .check = check_sample,
};

static const struct al_tool_defaults defaults = { .timeout_ms = 20000, .max_bytes = 7000 };

/* The input and the output of a test. */
struct decoded {
    json_t *json;
    struct sample_args args;
    struct al_error err;
};

static int decode_tool(struct decoded *d, const struct al_tool *tool, const char *text)
{
    *d = (struct decoded){ .err = AL_ERROR_INIT };
    d->json = json_loads(text, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    assert_non_null(d->json);
    return al_tool_decode(tool, d->json, &defaults, &d->args, &d->err);
}

static void release(struct decoded *d)
{
    al_tool_args_clear(&sample, &d->args);
    al_error_clear(&d->err);
    json_decref(d->json);
}

static void accepts(const char *text, struct decoded *d)
{
    int r = decode_tool(d, &sample, text);

    if (r < 0)
        fail_msg("%s: %s", text, d->err.message);
}

static void says(const char *text, const char *message)
{
    struct decoded d;
    static const struct sample_args nothing;

    assert_int_equal(decode_tool(&d, &sample, text), AL_ERR_BAD_ARGS);
    assert_int_equal(d.err.status, AL_ERR_BAD_ARGS);
    assert_string_equal(d.err.message, message);
    assert_memory_equal(&d.args, &nothing, sizeof(nothing)); /* nothing left to release */
    release(&d);
}

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

static void integers_stay_within_their_bounds(void **state)
{
    struct decoded d;

    (void)state;
    says("{\"lines\":0}", "lines must be at least 1");
    says("{\"lines\":-1}", "lines must be at least 1");
    says("{\"lines\":11}", "lines cannot exceed 10");
    says("{\"max_bytes\":0}", "max_bytes must be at least 1");
    says("{\"max_bytes\":5000001}", "max_bytes cannot exceed 5000000");
    says("{\"offset\":-6}", "offset must be at least -5");
    says("{\"depth\":10}", "depth is one digit");
    says("{\"depth\":-1}", "depth is one digit");
    accepts("{\"lines\":1,\"max_bytes\":5000000,\"depth\":9}", &d);
    assert_int_equal(d.args.max_bytes.value, 5000000);
    release(&d);
}

static void an_integral_number_is_an_integer_however_written(void **state)
{
    struct decoded d;

    (void)state;
    accepts("{\"lines\":5.0,\"max_bytes\":1e3,\"offset\":9007199254740992.0}", &d);
    assert_int_equal(d.args.lines.value, 5);
    assert_int_equal(d.args.max_bytes.value, 1000);
    assert_int_equal(d.args.offset.value, INT64_C(1) << 53);
    release(&d);
    says("{\"lines\":5.5}", "Invalid arguments: 'lines' must be an integer");
    says("{\"lines\":1e-3}", "Invalid arguments: 'lines' must be an integer");
    says("{\"max_bytes\":1e30}", "max_bytes cannot exceed 5000000");
    says("{\"offset\":-1e300}", "offset must be at least -5");
    says("{\"offset\":9223372036854775808.0}", "offset cannot exceed 9007199254740992");
    says("{\"offset\":-9223372036854775808.0}", "offset must be at least -5");
}

static void a_long_timeout_is_clamped_and_a_short_one_refused(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } fine[] = {
        { "{\"timeout_ms\":100}", 100 },       { "{\"timeout_ms\":599999}", 599999 },
        { "{\"timeout_ms\":600000}", 600000 }, { "{\"timeout_ms\":600001}", 600000 },
        { "{\"timeout_ms\":1e30}", 600000 },
    };
    struct decoded d;

    (void)state;
    for (size_t i = 0; i < COUNT(fine); i++) {
        accepts(fine[i].text, &d);
        assert_true(d.args.timeout_ms.given);
        assert_int_equal(d.args.timeout_ms.value, fine[i].value);
        release(&d);
    }
    says("{\"timeout_ms\":99}", "timeout_ms must be at least 100");
    says("{\"timeout_ms\":0}", "timeout_ms must be at least 100");
    says("{\"timeout_ms\":-1e30}", "timeout_ms must be at least 100");
}

static void blank_strings_count_as_empty_where_empty_is_refused(void **state)
{
    struct decoded d;

    (void)state;
    says("{\"message\":\"\"}", "message must not be empty");
    says("{\"message\":\" \\t\\r\\n\"}", "message must not be empty");
    says("{\"message\":\"\\u00a0\\u3000\"}", "message must not be empty");
    accepts("{\"message\":\" x\",\"working_dir\":\"\"}", &d);
    assert_string_equal(d.args.message, " x");
    assert_string_equal(d.args.working_dir, "");
    release(&d);
}

static void long_strings_and_lists_name_the_cap(void **state)
{
    struct decoded d;

    (void)state;
    accepts("{\"message\":\"1234567\"}", &d);
    release(&d);
    accepts("{\"message\":\"12345678\"}", &d);
    release(&d);
    says("{\"message\":\"123456789\"}", "message cannot be longer than 8 bytes");
    says("{\"message\":\"\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\"}",
         "message cannot be longer than 8 bytes");
    accepts("{\"paths\":[\"a\",\"b\"]}", &d);
    release(&d);
    accepts("{\"paths\":[\"a\",\"b\",\"1234\"]}", &d);
    release(&d);
    says("{\"paths\":[\"a\",\"b\",\"c\",\"d\"]}", "paths cannot contain more than 3 elements");
    says("{\"paths\":[\"a\",\"12345\"]}", "paths cannot be longer than 4 bytes");
    says("{\"paths\":[]}", "paths must contain at least one element");
}

static void a_pattern_holds_for_the_whole_string(void **state)
{
    static const char *const wrong[] = {
        "{\"kind\":\"\"}",        "{\"kind\":\"Feat\"}",    "{\"kind\":\"feat!\"}",
        "{\"kind\":\"feat\\n\"}", "{\"kind\":\"\\nfeat\"}", "{\"kind\":\"feat fix\"}",
        "{\"kind\":\"\\u00e9\"}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++)
        says(wrong[i], "kind must be lowercase letters only");
    says("{\"commit\":\"a-b\"}", "Invalid arguments: 'commit' must match ^[A-Za-z0-9]*$");
    says("{\"kind\":\"aaaaaaaaaaaaaaaaa\"}", "kind cannot be longer than 16 bytes");
}

static void a_nul_is_refused_by_name(void **state)
{
    (void)state;
    says("{\"message\":\"a\\u0000b\"}", "Invalid arguments: 'message' contains a NUL character");
    says("{\"kind\":\"feat\\u0000\"}", "Invalid arguments: 'kind' contains a NUL character");
    says("{\"paths\":[\"\\u0000\"]}", "Invalid arguments: 'paths' contains a NUL character");
}

static void unknown_parameters_are_refused_with_the_valid_ones(void **state)
{
    static const char valid[] =
        "verbose, quiet, lines, depth, offset, max_bytes, timeout_ms, message, kind, commit, "
        "working_dir, paths, action";
    char expected[512];

    (void)state;
    (void)snprintf(expected, sizeof(expected),
                   "Invalid arguments: unknown parameter 'Verbose' (sample takes: %s)", valid);
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

static bool wants_pop(const struct al_call *call, const void *p)
{
    (void)call;
    return ((const struct sample_args *)p)->action == POP;
}

static bool is_quiet(const struct al_call *call, const void *p)
{
    (void)call;
    return ((const struct sample_args *)p)->quiet;
}

static void the_first_operation_that_applies_is_selected(void **state)
{
    static const struct al_operation operations[] = {
        { .name = "quiet", .applies = is_quiet },
        { .name = "pop", .applies = wants_pop },
        { .name = "push" },
    };
    const struct al_tool tool = { .operations = operations, .noperations = COUNT(operations) };
    struct sample_args args = { .quiet = true, .action = POP };

    (void)state;
    assert_string_equal(al_tool_select(&tool, NULL, &args)->name, "quiet");
    args.quiet = false;
    assert_string_equal(al_tool_select(&tool, NULL, &args)->name, "pop");
    args.action = PUSH;
    assert_string_equal(al_tool_select(&tool, NULL, &args)->name, "push");
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
        cmocka_unit_test(integers_stay_within_their_bounds),
        cmocka_unit_test(an_integral_number_is_an_integer_however_written),
        cmocka_unit_test(a_long_timeout_is_clamped_and_a_short_one_refused),
        cmocka_unit_test(blank_strings_count_as_empty_where_empty_is_refused),
        cmocka_unit_test(long_strings_and_lists_name_the_cap),
        cmocka_unit_test(a_pattern_holds_for_the_whole_string),
        cmocka_unit_test(a_nul_is_refused_by_name),
        cmocka_unit_test(unknown_parameters_are_refused_with_the_valid_ones),
        cmocka_unit_test(an_unknown_name_is_made_safe_and_cut),
        cmocka_unit_test(cross_checks_run_last),
        cmocka_unit_test(the_first_operation_that_applies_is_selected),
    };

    return cmocka_run_group_tests_name("tool/decode", tests, NULL, NULL);
}
