// SPDX-License-Identifier: Apache-2.0
/* call/result.c: one MCP result object for each call, on one line, whatever the text contains. */
#include "call/call.h"

#include "tests/lib/assert.h"

static void dumps(struct al_result *result, const char *expected)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *parsed = NULL;

    al_result_dump(result, NULL, &out);
    assert_string_equal(out.buf, expected);
    parsed = json_loads(out.buf, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(parsed);
    al_result_clear(result);
}

static void a_success_is_text_and_meta(void **state)
{
    struct al_result result = AL_RESULT_INIT;

    (void)state;
    al_str_adds(&result.text, "## main\n");
    result.exit_code = 0;
    result.duration_ms = 12;
    dumps(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"## main\\n\"}],"
                   "\"_meta\":{\"airlock/result\":{\"truncated\":false,\"exit_code\":0,"
                   "\"duration_ms\":12}}}");
}

static void a_protocol_adds_its_members(void **state)
{
    static const struct al_result_extra extra = { .members = "\"a\":1", .meta = "\"x/y\":{}" };
    static const char *const expected[] = {
        "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"a\":1,\"_meta\":{\"airlock/result\":"
        "{\"truncated\":false,\"exit_code\":-1,\"duration_ms\":0},\"x/y\":{}}}",
        "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true,\"a\":1,\"_meta\":"
        "{\"airlock/result\":{\"truncated\":false,\"exit_code\":-1,\"duration_ms\":0},"
        "\"airlock/error\":{\"kind\":\"Timeout\",\"code\":null,\"name\":null,\"reason\":null,"
        "\"message\":\"no\"},\"x/y\":{}}}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++) {
        al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_str_adds(&result.text, "no");
        if (i == 1)
            result.status = al_error_set(&result.error, AL_ERR_TIMEOUT, "no");
        al_result_dump(&result, &extra, &out);
        assert_string_equal(out.buf, expected[i]);
    }
}

static void a_structured_result_has_both(void **state)
{
    struct al_result result = AL_RESULT_INIT;

    (void)state;
    result.structured = al_json_object();
    al_json_set(result.structured, "n", al_json_int(1));
    al_str_adds(&result.text, "{\"n\":1}");
    result.truncated = true;
    dumps(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1}\"}],"
                   "\"structuredContent\":{\"n\":1},"
                   "\"_meta\":{\"airlock/result\":{\"truncated\":true,\"exit_code\":-1,"
                   "\"duration_ms\":0}}}");
}

static void notes_are_a_second_item_of_text(void **state)
{
    struct al_result result = AL_RESULT_INIT;

    (void)state;
    result.exit_code = 0;
    al_result_note(&result, "a \"line\"");
    al_result_set(&result, "n", al_json_int(1));
    al_result_finish(&result, true);
    al_result_note(&result, "another");
    dumps(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1}\"},"
                   "{\"type\":\"text\",\"text\":\"a \\\"line\\\"\\nanother\"}],"
                   "\"structuredContent\":{\"n\":1},"
                   "\"_meta\":{\"airlock/result\":{\"truncated\":false,\"exit_code\":0,"
                   "\"duration_ms\":0}}}");
}

/* As the text it has nothing invisible, and it replaces a text that was there. */
static void members_are_the_object_and_the_text(void **state)
{
    struct al_result result = AL_RESULT_INIT;

    (void)state;
    result.exit_code = 0;
    al_str_adds(&result.text, "what was there");
    al_result_set(&result, "n", al_json_string("\xe2\x80\xae"));
    al_result_set(&result, "m", al_json_int(1));
    al_result_finish(&result, true);
    dumps(&result, "{\"content\":[{\"type\":\"text\",\"text\":"
                   "\"{\\\"n\\\":\\\"\\\\u202e\\\",\\\"m\\\":1}\"}],"
                   "\"structuredContent\":{\"n\":\"\\u202e\",\"m\":1},"
                   "\"_meta\":{\"airlock/result\":{\"truncated\":false,\"exit_code\":0,"
                   "\"duration_ms\":0}}}");
}

static void a_failure_carries_its_error(void **state)
{
    struct al_result result = AL_RESULT_INIT;

    (void)state;
    result.status = al_error_set_code(&result.error, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                                      "no branch '%s'", "x");
    result.error.reason = "not_found";
    al_str_adds(&result.text, "no branch 'x'");
    result.exit_code = 1;
    dumps(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"no branch 'x'\"}],\"isError\":true,"
                   "\"_meta\":{\"airlock/result\":{\"truncated\":false,\"exit_code\":1,"
                   "\"duration_ms\":0},\"airlock/error\":{\"kind\":\"ExecutionFailed\","
                   "\"code\":7033,\"name\":\"GIT_BRANCH_NOT_FOUND\",\"reason\":\"not_found\","
                   "\"message\":\"no branch 'x'\"}}}");
}

static void what_does_not_fit_is_null(void **state)
{
    struct al_result result = AL_RESULT_INIT;
    al_auto(al_json_decrefp) json_t *error = NULL;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    result.status = al_error_set(&result.error, AL_ERR_BAD_ARGS, "paths is required");
    error = al_result_error_json(&result);
    al_json_dump(error, false, &out);
    assert_string_equal(out.buf, "{\"kind\":\"BadArgs\",\"code\":null,\"name\":null,"
                                 "\"reason\":null,\"message\":\"paths is required\"}");
    al_result_clear(&result);
}

static void every_status_has_a_kind(void **state)
{
    static const struct {
        enum al_status status;
        const char *kind;
    } kinds[] = {
        { AL_ERR_BAD_ARGS, "BadArgs" },
        { AL_ERR_EXECUTION, "ExecutionFailed" },
        { AL_ERR_SANDBOX, "SandboxViolation" },
        { AL_ERR_TIMEOUT, "Timeout" },
        { AL_ERR_CANCELLED, "Cancelled" },
        { AL_ERR_APPROVAL_REQUIRED, "ApprovalRequired" },
        { AL_ERR_APPROVAL_DENIED, "ApprovalDenied" },
        { AL_ERR_NOT_GRANTED, "NotGranted" },
        { AL_ERR_NOT_FOUND, "ExecutionFailed" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct al_result result = AL_RESULT_INIT;
        al_auto(al_json_decrefp) json_t *error = NULL;

        result.status = kinds[i].status;
        error = al_result_error_json(&result);
        assert_string_equal(al_json_get_string(error, "kind"), kinds[i].kind);
        assert_string_equal(al_json_get_string(error, "message"), "");
    }
}

/* Quote `text`, and read it back with another JSON parser. */
static void survives_quoting(const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *parsed = NULL;

    al_json_quote(text, len, &out);
    for (size_t i = 0; i < out.len; i++)
        assert_true((unsigned char)out.buf[i] >= 0x20 && out.buf[i] != 0x7f);
    parsed = json_loads(out.buf, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_true(json_is_string(parsed));
    assert_int_equal(json_string_length(parsed), len);
    assert_memory_equal(json_string_value(parsed), text, len);
}

static void every_byte_is_quoted_at_every_place(void **state)
{
    (void)state;
    for (int byte = 0; byte < 0x80; byte++) {
        for (size_t at = 0; at < 20; at++) {
            char text[20];

            memset(text, 'a', sizeof(text));
            text[at] = (char)byte;
            for (size_t len = at + 1; len <= sizeof(text); len++)
                survives_quoting(text, len);
        }
    }
    survives_quoting("", 0);
    survives_quoting("h\xc3\xa9llo w\xf0\x9f\x8c\x8drld \xe2\x80\xa8", 19);
}

static void text_of_newlines_alone_is_quoted_whole(void **state)
{
    char text[1000];

    (void)state;
    memset(text, '\n', sizeof(text));
    survives_quoting(text, sizeof(text));
    memset(text, 1, sizeof(text));
    survives_quoting(text, sizeof(text));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_is_text_and_meta),
        cmocka_unit_test(a_protocol_adds_its_members),
        cmocka_unit_test(a_structured_result_has_both),
        cmocka_unit_test(members_are_the_object_and_the_text),
        cmocka_unit_test(notes_are_a_second_item_of_text),
        cmocka_unit_test(a_failure_carries_its_error),
        cmocka_unit_test(what_does_not_fit_is_null),
        cmocka_unit_test(every_status_has_a_kind),
        cmocka_unit_test(every_byte_is_quoted_at_every_place),
        cmocka_unit_test(text_of_newlines_alone_is_quoted_whole),
    };

    return cmocka_run_group_tests_name("tool/result", tests, NULL, NULL);
}
