// SPDX-License-Identifier: Apache-2.0
/* call/defined.h: what a user is asked about a tool of another MCP server cannot be hidden by the
 * server's title or by the agent's arguments. */
#include "call/defined.h"

#include "guard/text.h"
#include "tests/lib/assert.h"

static struct al_defined_args args_of(const struct al_tool *tool, const char *json)
{
    json_t *arguments = json ? json_loads(json, 0, NULL) : NULL;

    assert_true(!json || arguments);
    return (struct al_defined_args){ .tool = tool, .arguments = arguments };
}

/* The summary as the pipeline shows it.  Caller frees. */
static char *summary_of(const char *title, const char *json)
{
    const struct al_tool tool = { .name = "mcp__fs__write_file", .title = title };
    struct al_defined_args args = args_of(&tool, json);
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    al_defined_summarize(&args, "fs", &out);
    json_decref((json_t *)args.arguments);
    return al_text_sanitize_shown_line(out.buf);
}

static void the_summary_has_title_server_and_arguments(void **state)
{
    static const char *const cases[][3] = {
        { "Write File", NULL, "Call \"Write File\" of fs without arguments" },
        { "Write File", "{}", "Call \"Write File\" of fs without arguments" },
        { "Write File", "{\"path\":\"a.txt\",\"n\":1}",
          "Call \"Write File\" of fs with {\"path\":\"a.txt\",\"n\":1}" },
        { "Read\" of other without arguments", "{}",
          "Call \"Read' of other without arguments\" of fs without arguments" },
        { "a\nb\x1b[2J\xe2\x80\xae", "{}",
          "Call \"a b<U+001B>[2J<U+202E>\" of fs without arguments" },
        { "x", "{\"a\":\"\xe2\x80\xae\"}", "Call \"x\" of fs with {\"a\":\"\\u202e\"}" },
        { "x", "{\"a\":\"1\\n2\"}", "Call \"x\" of fs with {\"a\":\"1\\n2\"}" },
        { "x", "{\"api_key\":\"abc\",\"n\":{\"TOKEN\":\"t\"},\"MY_TOKEN\":\"u\"}",
          "Call \"x\" of fs with {\"api_key\":\"[redacted]\",\"n\":{\"TOKEN\":\"t\"},"
          "\"MY_TOKEN\":\"[redacted]\"}" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *summary = summary_of(cases[i][0], cases[i][1]);

        assert_string_equal(summary, cases[i][2]);
    }
}

static void a_long_title_leaves_room_for_the_rest(void **state)
{
    for (int len = 59; len <= 61; len++) {
        char title[64], expected[128];
        al_auto(al_freep) char *summary = NULL;

        (void)state;
        memset(title, 't', sizeof(title));
        title[len] = '\0';
        (void)snprintf(expected, sizeof(expected), "Call \"%.*s%s\" of fs with {\"path\":\"p\"}",
                       len > 60 ? 60 : len, title, len > 60 ? "…" : "");
        summary = summary_of(title, "{\"path\":\"p\"}");
        assert_string_equal(summary, expected);
    }
}

static void long_arguments_are_cut_in_the_summary(void **state)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    al_auto(al_freep) char *summary = NULL;

    (void)state;
    al_str_adds(&json, "{\"a\":\"");
    for (int i = 0; i < 2000; i++)
        al_str_adds(&json, "ä");
    al_str_adds(&json, "\"}");
    summary = summary_of("x", json.buf);
    assert_true(strlen(summary) < 700);
    assert_true(al_ends_with(summary, "ä…"));
}

/* The preview; NULL when it is refused.  Caller frees. */
static char *preview_of(const char *json, bool in_full)
{
    const struct al_tool tool = { .name = "mcp__fs__write_file", .title = "Write" };
    struct al_defined_args args = args_of(&tool, json);
    struct al_str out = AL_STR_INIT;
    int r = al_defined_preview(&args, in_full, &out, NULL);

    json_decref((json_t *)args.arguments);
    assert_true(r == 0 || r == AL_ERR_BAD_ARGS);
    if (r == 0)
        return al_str_detach(&out);
    al_str_clear(&out);
    return NULL;
}

static void the_preview_names_every_argument_first(void **state)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    al_auto(al_freep) char *excerpt = NULL;
    al_auto(al_freep) char *full = NULL;

    (void)state;
    al_str_adds(&json, "{\"content\":\"");
    for (int i = 0; i < 400; i++)
        al_str_addf(&json, "line %d\\n", i);
    al_str_adds(&json, "\",\"path\":\"a.txt\",\"secret_key\":\"shown\"}");
    excerpt = preview_of(json.buf, false);
    assert_true(al_starts_with(excerpt, "Arguments:\n  content: \"line 0\\nline 1\\n"));
    assert_non_null(strstr(excerpt, "bytes)\n  path: \"a.txt\"\n  secret_key: \"shown\"\n\n"
                                    "content:\n    line 0\n    line 1\n"));
    assert_non_null(strstr(excerpt, "    line 199\n… 200 more lines\n"));
    assert_null(strstr(excerpt, "line 200\n"));
    full = preview_of(json.buf, true);
    assert_non_null(strstr(full, "    line 399\n"));
    assert_null(strstr(full, "more lines"));
}

static void no_argument_passes_for_another(void **state)
{
    al_auto(al_freep) char *text =
        preview_of("{\"a\\n  path: \\\"safe.txt\\\"\":\"x\\n  path: \\\"safe.txt\\\"\\u001b[1A\","
                   "\"path\":\"danger\"}",
                   false);

    (void)state;
    assert_string_equal(
        text, "Arguments:\n"
              "  a<U+000A>  path: \"safe.txt\": \"x\\n  path: \\\"safe.txt\\\"\\u001b[1A\"\n"
              "  path: \"danger\"\n");
}

static void more_arguments_than_can_be_shown_are_refused(void **state)
{
    (void)state;
    for (int count = 63; count <= 65; count++) {
        al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
        al_auto(al_freep) char *text = NULL;

        al_str_addc(&json, '{');
        for (int i = 0; i < count; i++)
            al_str_addf(&json, "%s\"a%d\":1", i ? "," : "", i);
        al_str_addc(&json, '}');
        text = preview_of(json.buf, false);
        assert_int_equal(text != NULL, count <= AL_DEFINED_ARGUMENTS_MAX);
    }
}

static void many_long_arguments_are_bounded(void **state)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    al_auto(al_freep) char *text = NULL;

    (void)state;
    al_str_addc(&json, '{');
    for (int i = 0; i < 60; i++) {
        al_str_addf(&json, "%s\"a%d\":\"", i ? "," : "", i);
        for (int k = 0; k < 2000; k++)
            al_str_adds(&json, "0123456789");
        al_str_adds(&json, "\"");
    }
    al_str_adds(&json, ",\"path\":\"last\"}");
    text = preview_of(json.buf, false);
    assert_true(strlen(text) < 128u * 1024);
    assert_non_null(strstr(text, "  path: \"last\"\n"));
    assert_non_null(strstr(text, "more of the long arguments are not shown any further\n"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_summary_has_title_server_and_arguments),
        cmocka_unit_test(a_long_title_leaves_room_for_the_rest),
        cmocka_unit_test(long_arguments_are_cut_in_the_summary),
        cmocka_unit_test(the_preview_names_every_argument_first),
        cmocka_unit_test(no_argument_passes_for_another),
        cmocka_unit_test(more_arguments_than_can_be_shown_are_refused),
        cmocka_unit_test(many_long_arguments_are_bounded),
    };

    return cmocka_run_group_tests_name("tool/defined", tests, NULL, NULL);
}
