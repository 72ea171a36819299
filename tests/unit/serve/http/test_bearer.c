// SPDX-License-Identifier: Apache-2.0
/* http/bearer.h: one bearer token, and nothing that only looks like one. */
#include "serve/http/server.h"

#include "tests/lib/assert.h"

static void finds_the_token(void **state)
{
    static const struct {
        const char *value, *token;
    } facts[] = {
        { "Bearer abc", "abc" },     { "bearer abc", "abc" },
        { "BEARER abc", "abc" },     { "Bearer   abc", "abc" },
        { "Bearer a", "a" },         { "Bearer !#$%&'*+-.^_`|~", "!#$%&'*+-.^_`|~" },
        { "Bearer abc==", "abc==" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        const char *token = NULL;
        size_t len = 0;

        print_message("# %s\n", facts[i].value);
        assert_true(al_http_bearer(facts[i].value, &token, &len));
        assert_int_equal(len, strlen(facts[i].token));
        assert_memory_equal(token, facts[i].token, len);
    }
}

static void refuses_everything_else(void **state)
{
    static const char *const values[] = {
        NULL,
        "",
        "Bearer",
        "Bearer ",
        "Bearer    ",
        "Bearerabc",
        "Bearer\tabc",
        "Bearer abc def",
        "Bearer abc ",
        "Bearer abc,def x",
        " Bearer abc",
        "Basic abc",
        "Token abc",
        "abc",
        "Bearer a\x01"
        "b",
        "Bearer a\x7f",
        "Bearer \xc3\xa9",
        "Digest Bearer abc",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        const char *token = NULL;
        size_t len = 77;

        print_message("# %s\n", values[i] ? values[i] : "(none)");
        assert_false(al_http_bearer(values[i], &token, &len));
        assert_null(token);
        assert_int_equal(len, 77);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_token),
        cmocka_unit_test(refuses_everything_else),
    };

    return cmocka_run_group_tests_name("http/bearer", tests, NULL, NULL);
}
