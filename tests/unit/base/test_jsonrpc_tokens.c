// SPDX-License-Identifier: Apache-2.0
/* base/jsonrpc.h: ids and progress tokens come back exactly as they were sent. */
#include "tests/unit/base/jsonrpc_lib.h"

static void ids_keep_their_type_and_value(void **state)
{
    static const struct {
        const char *id, *canonical;
    } rows[] = {
        { "1", "1" },
        { "0", "0" },
        { "-7", "-7" },
        { "9007199254740993", "9007199254740993" },
        { "9223372036854775807", "9223372036854775807" },
        { "9223372036854775808", "9223372036854775808" },
        { "123456789012345678901234567890", "123456789012345678901234567890" },
        { "-99999999999999999999", "-99999999999999999999" },
        { "\"1\"", "\"1\"" },
        { "\"\"", "\"\"" },
        { "\"a\\u0062\\\"\\\\\"", "\"ab\\\"\\\\\"" },
        { "\"a\\u0000b\"", "\"a\\u0000b\"" },
        { "\"\\n\\u0001\"", "\"\\n\\u0001\"" },
        { "\"\xc3\xa9\"", "\"\xc3\xa9\"" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *text =
            al_asprintf("{\"id\":%s,\"jsonrpc\":\"2.0\",\"method\":\"ping\"}", rows[i].id);
        al_auto(line_clear) struct line line = parse(text);

        assert_int_equal(line.message.kind, AL_RPC_REQUEST);
        assert_string_equal(line.message.id, rows[i].canonical);
    }
}

static void ids_of_other_types_are_refused_without_id(void **state)
{
    static const char *const ids[] = { "null", "true", "1.5", "1e3", "[1]", "{}", "1e30" };

    (void)state;
    for (size_t i = 0; i < COUNT(ids); i++) {
        al_auto(al_freep) char *text =
            al_asprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", ids[i]);
        al_auto(line_clear) struct line line = parse(text);

        assert_int_equal(line.message.kind, AL_RPC_INVALID);
        assert_null(line.message.id);
        assert_non_null(line.message.problem);
    }
}

/* A string of so many bytes with its quotes.  Integers are never that long: the parser ends at
 * about 300 digits. */
static char *token_of(size_t len)
{
    struct al_str token = AL_STR_INIT;

    while (token.len < len)
        al_str_addc(&token, 'x');
    token.buf[0] = token.buf[len - 1] = '"';
    return al_str_detach(&token);
}

static void ids_and_tokens_have_a_bound(void **state)
{
    static const struct {
        size_t len;
        bool fits;
    } rows[] = {
        { AL_RPC_TOKEN_MAX_BYTES - 1, true },
        { AL_RPC_TOKEN_MAX_BYTES, true },
        { AL_RPC_TOKEN_MAX_BYTES + 1, false },
        { 100 * AL_RPC_TOKEN_MAX_BYTES, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool fits = rows[i].fits;
        al_auto(al_freep) char *token = token_of(rows[i].len);
        al_auto(al_freep) char *text =
            al_asprintf("{\"id\":%s,\"jsonrpc\":\"2.0\",\"method\":\"ping\"}", token);
        al_auto(al_freep) char *other =
            al_asprintf("{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"m\","
                        "\"params\":{\"_meta\":{\"progressToken\":%s}}}",
                        token);
        al_auto(line_clear) struct line line = parse(text);
        al_auto(line_clear) struct line with_token = parse(other);

        assert_int_equal(line.message.kind, fits ? AL_RPC_REQUEST : AL_RPC_INVALID);
        assert_true((line.message.id != NULL) == fits);
        assert_int_equal(with_token.message.kind, fits ? AL_RPC_REQUEST : AL_RPC_INVALID);
        assert_string_equal(with_token.message.id, "1");
        assert_true((with_token.message.problem == NULL) == fits);
    }
}

static void tokens_are_found_and_kept(void **state)
{
    static const char *const path[] = { "params", "_meta", "progressToken", NULL };
    static const struct {
        const char *token, *canonical;
    } rows[] = {
        { "\"t\"", "\"t\"" }, { "5", "5" },    { "123456789012345678901", "123456789012345678901" },
        { "null", NULL },     { "1.5", NULL }, { "{}", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *text = al_asprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\","
                                                   "\"params\":{\"_meta\":{\"progressToken\":%s}}}",
                                                   rows[i].token);
        al_auto(line_clear) struct line line = parse(text);
        al_auto(al_freep) char *token = al_rpc_token(&line.message, path);

        if (rows[i].canonical)
            assert_string_equal(token, rows[i].canonical);
        else
            assert_null(token);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_keep_their_type_and_value),
        cmocka_unit_test(ids_of_other_types_are_refused_without_id),
        cmocka_unit_test(ids_and_tokens_have_a_bound),
        cmocka_unit_test(tokens_are_found_and_kept),
    };

    return cmocka_run_group_tests_name("wire/jsonrpc_tokens", tests, NULL, NULL);
}
