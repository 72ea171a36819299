// SPDX-License-Identifier: Apache-2.0
/* call/rows.c: numbers, texts and lists stay within the bounds of their parameter. */
#include "tests/unit/call/decode_lib.h"

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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_stay_within_their_bounds),
        cmocka_unit_test(an_integral_number_is_an_integer_however_written),
        cmocka_unit_test(a_long_timeout_is_clamped_and_a_short_one_refused),
        cmocka_unit_test(blank_strings_count_as_empty_where_empty_is_refused),
        cmocka_unit_test(long_strings_and_lists_name_the_cap),
        cmocka_unit_test(a_pattern_holds_for_the_whole_string),
        cmocka_unit_test(a_nul_is_refused_by_name),
    };

    return cmocka_run_group_tests_name("tool/decode_bounds", tests, NULL, NULL);
}
