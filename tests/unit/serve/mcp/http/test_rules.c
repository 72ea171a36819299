// SPDX-License-Identifier: Apache-2.0
/* Content types and accepted types; the headers of modern requests are in e2e/http_mcp_modern. */
#include "serve/mcp/http/private.h"
#include "tests/lib/assert.h"

static void test_content_type(void **state)
{
    static const char *const good[] = { "application/json", "APPLICATION/JSON",
                                        "application/json;charset=utf-8", "application/json ; x" };
    static const char *const bad[] = { "",
                                       "application/jsonp",
                                       "text/json",
                                       "application",
                                       "json",
                                       ";application/json",
                                       "application/json, text/plain" };

    (void)state;
    assert_false(al_rules_is_json(NULL));
    for (size_t i = 0; i < AL_COUNT(good); i++)
        assert_true(al_rules_is_json(good[i]));
    for (size_t i = 0; i < AL_COUNT(bad); i++)
        assert_false(al_rules_is_json(bad[i]));
}

static void test_accept(void **state)
{
    static const char *const good[] = { "*/*",
                                        "application/*",
                                        "application/json",
                                        "text/html,application/json",
                                        "text/html , */* ;q=0.1",
                                        "Application/JSON;q=1.000",
                                        "application/json; q=0.001" };
    static const char *const bad[] = { "",
                                       ",",
                                       "text/*",
                                       "application/jsonp",
                                       "application/",
                                       "*",
                                       "application/json;q=0",
                                       "application/json; q=0.000",
                                       "application/json;x=1;q=0.0",
                                       "*/json",
                                       "application/json*" };

    (void)state;
    assert_true(al_rules_accepts(NULL, "application/json"));
    for (size_t i = 0; i < AL_COUNT(good); i++)
        assert_true(al_rules_accepts(good[i], "application/json"));
    for (size_t i = 0; i < AL_COUNT(bad); i++)
        assert_false(al_rules_accepts(bad[i], "application/json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_type),
        cmocka_unit_test(test_accept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
