// SPDX-License-Identifier: Apache-2.0
/* tools/upstream/mounts.h: whatever a server answers is safe text within the cap, and what is
 * left out is named. */
#include "tools/upstream/mounts.h"

#include "call/call.h"
#include "tests/lib/assert.h"

/* The most items that are passed on. */
#define ITEMS_MAX 1000

/* Take a result, and compare its content as JSON. */
static int take(const char *json, size_t max_bytes, bool has_schema, struct al_result *out,
                struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *result = json_loads(json, JSON_ALLOW_NUL, NULL);

    assert_non_null(result);
    return al_upstream_take_result(result, max_bytes, "fs", has_schema, out, err);
}

static void assert_content(const char *json, size_t max_bytes, const char *expected, bool truncated)
{
    al_auto(al_result_clear) struct al_result out = AL_RESULT_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    assert_int_equal(take(json, max_bytes, false, &out, NULL), 0);
    al_json_dump(out.content, false, &text);
    assert_string_equal(text.buf, expected);
    assert_int_equal(out.truncated, truncated);
}

static void items_are_kept_and_made_safe(void **state)
{
    static const char *const cases[][2] = {
        { "[]", "[]" },
        { "[{\"type\":\"text\",\"text\":\"a\\nb\"}]", "[{\"type\":\"text\",\"text\":\"a\\nb\"}]" },
        { "[{\"type\":\"text\",\"text\":\"a\\u0000\\u001b[2Jb\\u202e\"}]",
          "[{\"type\":\"text\",\"text\":\"ab<U+202E>\"}]" },
        { "[{\"type\":\"text\",\"text\":\"a\",\"extra\":1,\"annotations\":{\"priority\":1}}]",
          "[{\"type\":\"text\",\"text\":\"a\",\"annotations\":{\"priority\":1}}]" },
        { "[{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/png\\u001b[1m\"}]",
          "[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AAAA\"}]" },
        { "[{\"type\":\"audio\",\"data\":\"AAA=\",\"mimeType\":\"audio/wav\"}]",
          "[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AAA=\"}]" },
        { "[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"mimeType\":\"text/plain\","
          "\"text\":\"x\\u001b[2Jy\"}}]",
          "[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"mimeType\":\"text/plain\","
          "\"text\":\"xy\"}}]" },
        { "[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"blob\":\"AAAA\"}}]",
          "[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"blob\":\"AAAA\"}}]" },
        { "[{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"n\\u0007\",\"size\":3}]",
          "[{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"n\",\"size\":3}]" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *json = al_asprintf("{\"content\":%s}", cases[i][0]);

        assert_content(json, 1000, cases[i][1], false);
    }
}

static void what_cannot_be_passed_on_is_named(void **state)
{
    static const char *const cases[][2] = {
        { "{\"type\":\"image\",\"data\":\"A A=\",\"mimeType\":\"image/png\"}",
          "[image image/png left out: its data is not base64]" },
        { "{\"type\":\"image\",\"mimeType\":\"image/png\"}",
          "[image image/png left out: its data is not base64]" },
        { "{\"type\":\"text\",\"text\":1}", "[text left out: it is no string]" },
        { "{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\"}}",
          "[resource a:b left out: it has neither text nor base64]" },
        { "{\"type\":\"resource_link\"}", "[resource_link left out: it has no uri]" },
        { "{\"type\":\"video\\u001b[2J\"}",
          "[content of type video left out: airlock does not know it]" },
        { "{}", "[content of type (none) left out: airlock does not know it]" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *json = al_asprintf("{\"content\":[%s]}", cases[i][0]);
        al_auto(al_freep) char *expected =
            al_asprintf("[{\"type\":\"text\",\"text\":\"%s\"}]", cases[i][1]);

        assert_content(json, 1000, expected, true);
    }
}

static void the_cap_counts_everything(void **state)
{
    static const char image[] = "{\"type\":\"image\",\"mimeType\":\"image/x\","
                                "\"data\":\"AAAAAAAAAAAAAAAA\"}";
    al_auto(al_freep) char *json = al_asprintf("{\"content\":[%s]}", image);
    al_auto(al_freep) char *kept = al_asprintf("[%s]", image);

    (void)state;
    assert_content(json, 22,
                   "[{\"type\":\"text\",\"text\":\"[image image/x left out: larger than "
                   "max_bytes]\"}]",
                   true);
    assert_content(json, 23, kept, false);
    assert_content(json, 24, kept, false);
    assert_content("{\"content\":[{\"type\":\"text\",\"text\":\"0123456789\"},"
                   "{\"type\":\"text\",\"text\":\"x\"}]}",
                   10, "[{\"type\":\"text\",\"text\":\"0123456789\"}]", true);
    assert_content("{\"content\":[{\"type\":\"text\",\"text\":\"0123456789\"}]}", 10,
                   "[{\"type\":\"text\",\"text\":\"0123456789\"}]", false);
}

static void a_million_items_become_few(void **state)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    al_auto(al_result_clear) struct al_result out = AL_RESULT_INIT;

    (void)state;
    al_str_adds(&json, "{\"content\":[");
    for (int i = 0; i < ITEMS_MAX + 5; i++)
        al_str_addf(&json, "%s{\"type\":\"text\",\"text\":\"\"}", i ? "," : "");
    al_str_adds(&json, "]}");
    assert_int_equal(take(json.buf, 1000, false, &out, NULL), 0);
    assert_int_equal(json_array_size(out.content), ITEMS_MAX + 1);
    assert_true(out.truncated);
    assert_non_null(strstr(out.text.buf, "[5 more items left out: there are too many]"));
}

static void structured_content_keeps_its_value(void **state)
{
    al_auto(al_result_clear) struct al_result out = AL_RESULT_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    assert_int_equal(take("{\"content\":[],\"structuredContent\":{\"a\":\"\\u202e\"},"
                          "\"_meta\":{\"x.org/y\":1,\"airlock/error\":{},\"plain\":1,"
                          "\"io.modelcontextprotocol/serverInfo\":{}}}",
                          1000, true, &out, NULL),
                     0);
    out.exit_code = 0;
    al_result_dump(&out, NULL, &text);
    assert_string_equal(text.buf,
                        "{\"content\":[],\"structuredContent\":{\"a\":\"\\u202e\"},\"_meta\":{"
                        "\"airlock/result\":{\"truncated\":false,\"exit_code\":0,\"duration_ms\":0}"
                        ",\"x.org/y\":1}}");
}

static void structured_content_beyond_the_cap(void **state)
{
    static const char json[] = "{\"content\":[],\"structuredContent\":{\"a\":\"0123456789\"}}";

    (void)state;
    for (size_t max = 17; max <= 19; max++) { /* it has 18 bytes */
        al_auto(al_result_clear) struct al_result out = AL_RESULT_INIT, other = AL_RESULT_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(take(json, max, true, &out, &err), max < 18 ? AL_ERR_EXECUTION : 0);
        assert_int_equal(out.structured != NULL, max >= 18);
        assert_int_equal(take(json, max, false, &other, NULL), 0);
        assert_int_equal(other.structured != NULL, max >= 18);
        assert_int_equal(other.truncated, max < 18);
    }
}

static void a_failure_has_its_first_line(void **state)
{
    al_auto(al_result_clear) struct al_result out = AL_RESULT_INIT, none = AL_RESULT_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT, silent = AL_ERROR_INIT;

    (void)state;
    assert_int_equal(
        take("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\\u001b[1m "
             "such file\\nat x\"}]}",
             1000, true, &out, &err),
        AL_ERR_EXECUTION);
    assert_string_equal(err.message, "no such file");
    assert_string_equal(out.text.buf, "no such file\nat x");
    assert_int_equal(take("{\"isError\":true,\"content\":[]}", 1000, true, &none, &silent),
                     AL_ERR_EXECUTION);
    assert_string_equal(silent.message, "The tool of fs failed and does not say why");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_kept_and_made_safe),
        cmocka_unit_test(what_cannot_be_passed_on_is_named),
        cmocka_unit_test(the_cap_counts_everything),
        cmocka_unit_test(a_million_items_become_few),
        cmocka_unit_test(structured_content_keeps_its_value),
        cmocka_unit_test(structured_content_beyond_the_cap),
        cmocka_unit_test(a_failure_has_its_first_line),
    };

    return cmocka_run_group_tests_name("toolsets/upstream/content", tests, NULL, NULL);
}
