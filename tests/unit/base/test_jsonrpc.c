// SPDX-License-Identifier: Apache-2.0
/* base/jsonrpc.h: a bad request is still answered under its own id. */
#include "base/jsonrpc.h"

#include "tests/unit/base/jsonrpc_lib.h"

static void refuses(const char *text, size_t len, enum al_rpc_code code)
{
    struct al_rpc_doc doc = AL_RPC_DOC_INIT;
    const char *problem = NULL;

    print_message("  %.60s\n", text);
    assert_int_equal(al_rpc_parse(text, len, &doc, &problem), code);
    assert_non_null(problem);
    assert_null(doc.root);
}

static void tells_the_kinds_apart(void **state)
{
    static const struct {
        const char *text;
        enum al_rpc_kind kind;
    } rows[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", AL_RPC_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"extra\":1}", AL_RPC_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", AL_RPC_NOTIFICATION },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", AL_RPC_RESPONSE },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", AL_RPC_RESPONSE },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", AL_RPC_RESPONSE },
        { "{\"jsonrpc\":\"2.0\",\"id\":1}", AL_RPC_INVALID },
        { "{\"jsonrpc\":\"2.0\"}", AL_RPC_INVALID },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", AL_RPC_INVALID },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\\u0000\"}", AL_RPC_INVALID },
        { "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", AL_RPC_INVALID },
        { "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", AL_RPC_INVALID },
        { "{\"id\":1,\"method\":\"m\"}", AL_RPC_INVALID },
        { "{}", AL_RPC_INVALID },
        { "7", AL_RPC_INVALID },
        { "\"text\"", AL_RPC_INVALID },
        { "null", AL_RPC_INVALID },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(line_clear) struct line line = parse(rows[i].text);

        assert_int_equal(line.message.kind, rows[i].kind);
        assert_true((line.message.kind == AL_RPC_INVALID) == (line.message.problem != NULL));
    }
}

static void what_is_not_json_has_no_message(void **state)
{
    static const char *const texts[] = {
        "{",
        "x",
        "{\"id\":1,}",
        "{\"id\":01}",
        "{\"id\":1}{\"id\":2}",
        "{\"id\":1,\"x\":1e999}", /* no double holds it */
        "{\"id\":1,\"a\\u0000b\":1}",
        "{\"id\":1,\"x\":\"\xff\"}",
        "{\"id\":1,\"x\":\"\xed\xa0\x80\"}",
        "{\"id\":1,\"x\":\"\\ud800\"}",
        "{\"id\":1,\"x\":\"a\tb\"}",
    };
    static const char nul[] = "{\"id\":1,\"x\":\"\0\"}";

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        refuses(texts[i], strlen(texts[i]), AL_RPC_PARSE_ERROR);
    refuses(nul, sizeof(nul) - 1, AL_RPC_PARSE_ERROR);
}

static void what_is_not_json_may_have_an_id(void **state)
{
    static const struct {
        const char *text;
        const char *id;
    } rows[] = {
        { "{\"id\":1,\"params\":{\"arguments\":{\"a\":\"\\ud83d\"}}}", "1" },
        { "{\"params\":\"\\udfff\",\"id\":\"x\"}", "\"x\"" },
        { "{\"id\":1,\"a\":", "1" },
        { "{\"id\":\"a\\ud800\"}", NULL },
        { "{\"id\":1,\"id\":2,\"a\":\"\\ud800\"}", NULL },
        { "{\"id\":[1],\"a\":\"\\ud800\"}", NULL },
        { "{\"params\":{\"id\":1},\"a\":\"\\ud800\"}", NULL },
        { "{\"id\"", NULL },
        { "{\"id\":", NULL },
        { "{", NULL },
        { "", NULL },
        { "[{\"id\":1}", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *id = al_rpc_broken_id(rows[i].text, strlen(rows[i].text));

        print_message("# %s\n", rows[i].text);
        assert_true((id != NULL) == (rows[i].id != NULL));
        if (id)
            assert_string_equal(id, rows[i].id);
    }
}

/* {"id":1,"x":[[[…]]]} with `depth` brackets in all. */
static char *nested(size_t depth)
{
    struct al_str text = AL_STR_INIT;

    al_str_adds(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"x\":");
    for (size_t i = 1; i < depth; i++)
        al_str_addc(&text, '[');
    for (size_t i = 1; i < depth; i++)
        al_str_addc(&text, ']');
    al_str_addc(&text, '}');
    return al_str_detach(&text);
}

static void nesting_has_the_parsers_limit(void **state)
{
    al_auto(al_freep) char *below = nested(2047), *at = nested(2048), *above = nested(2049);
    al_auto(line_clear) struct line one = parse(below), two = parse(at);

    (void)state;
    assert_int_equal(one.message.kind, AL_RPC_REQUEST);
    assert_int_equal(two.message.kind, AL_RPC_REQUEST);
    refuses(above, strlen(above), AL_RPC_PARSE_ERROR);
}

/* A request with `count` values in all. */
static char *crowded(size_t count)
{
    struct al_str text = AL_STR_INIT;

    /* Six are there already: the object, its four members and the first item. */
    al_str_adds(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"x\":[0");
    for (size_t i = 6; i < count; i++)
        al_str_adds(&text, ",0");
    al_str_adds(&text, "]}");
    return al_str_detach(&text);
}

static void the_number_of_values_is_limited(void **state)
{
    al_auto(al_freep) char *below = crowded(AL_RPC_MAX_VALUES - 1);
    al_auto(al_freep) char *at = crowded(AL_RPC_MAX_VALUES);
    al_auto(al_freep) char *above = crowded(AL_RPC_MAX_VALUES + 1);
    al_auto(line_clear) struct line one = parse(below), two = parse(at);

    (void)state;
    assert_int_equal(one.message.kind, AL_RPC_REQUEST);
    assert_int_equal(two.message.kind, AL_RPC_REQUEST);
    refuses(above, strlen(above), AL_RPC_INVALID_REQUEST);
}

static void only_arguments_are_held_to_more(void **state)
{
    static const struct {
        const char *members;
        bool fine;
    } rows[] = {
        { "\"params\":{\"name\":\"t\"}", true },
        { "\"params\":{\"arguments\":{\"a\":1}}", true },
        { "\"params\":{\"arguments\":{\"a\":1,\"b\":1}}", true },
        { "\"params\":{\"arguments\":{\"a\":1},\"x\":{\"b\":1,\"c\":{\"b\":2}}}", true },
        { "\"params\":{\"name\":\"\\u0000\",\"arguments\":{\"a\":1}}", true },
        { "\"x\":\"\\u0000\",\"params\":{\"arguments\":{\"a\":99999999999999999999}}", true },
        { "\"params\":{\"arguments\":{\"a\":1,\"a\":1}}", false },
        { "\"params\":{\"arguments\":{\"a\":1,\"\\u0061\":1}}", false },
        { "\"params\":{\"\\u0061rguments\":{\"a\":1,\"a\":1}}", false },
        { "\"params\":{\"arguments\":{\"a\":[{\"b\":1,\"b\":2}]}}", false },
        { "\"params\":{\"arguments\":{\"a\":\"x\\u0000y\"}}", false },
        { "\"params\":{\"arguments\":\"\\u0000\"}", false },
        { "\"params\":{\"arguments\":{\"z\":99999999999999999999,\"a\":1,\"a\":1}}", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *text = al_asprintf(
            "{ \"jsonrpc\" : \"2.0\" , \"id\":\"k}]\\\"\", \"method\":\"m\",%s}", rows[i].members);
        al_auto(line_clear) struct line line = parse(text);
        const char *problem = al_rpc_arguments_problem(&line.message);

        assert_string_equal(line.message.id, "\"k}]\\\"\"");
        assert_true((problem == NULL) == rows[i].fine);
    }
}

/* Another parser may take the first of two members, so such a message is refused. */
static void what_is_said_twice_is_no_message(void **state)
{
    static const struct {
        const char *text;
        bool keeps_id;
    } rows[] = {
        { "\"id\":1,\"method\":\"m\",\"params\":{\"name\":\"a\"},\"params\":{\"name\":\"b\"}",
          true },
        { "\"id\":1,\"method\":\"m\",\"params\":{},\"p\\u0061rams\":{}", true },
        { "\"id\":1,\"method\":\"m\",\"method\":\"n\"", true },
        { "\"id\":1,\"method\":\"m\",\"jsonrpc\":\"2.0\"", true },
        { "\"id\":1,\"method\":\"m\",\"x\":1,\"x\":2", true },
        { "\"id\":1,\"method\":\"m\",\"params\":{\"name\":\"a\",\"name\":\"b\"}", true },
        { "\"id\":1,\"method\":\"m\",\"params\":{\"arguments\":{},\"arguments\":{}}", true },
        { "\"id\":1,\"method\":\"m\",\"params\":{\"arguments\":{\"a\":1,\"a\":2},\"arguments\":{}}",
          true },
        { "\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{\"x\":1,\"x\":1},\"arguments\":{}}",
          true },
        { "\"id\":1,\"method\":\"m\",\"params\":[{\"x\":99999999999999999999,\"x\":1}]", true },
        { "\"id\":99999999999999999999,\"method\":\"m\",\"x\":1,\"x\":2", true },
        { "\"id\":1,\"id\":2,\"method\":\"m\"", false },
        { "\"id\":1,\"\\u0069d\":1,\"method\":\"m\"", false },
        { "\"method\":\"m\",\"params\":{\"requestId\":1,\"requestId\":2}", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *text = al_asprintf("{\"jsonrpc\":\"2.0\",%s}", rows[i].text);
        al_auto(al_freep) char *batch = al_asprintf("[1, %s]", text);
        al_auto(line_clear) struct line line = parse(text), many = parse(batch);

        print_message("# %s\n", text);
        assert_int_equal(line.message.kind, AL_RPC_INVALID);
        assert_non_null(strstr(line.message.problem, "twice"));
        assert_true((line.message.id != NULL) == rows[i].keeps_id);
        assert_true(al_rpc_doc_next(&many.doc, &many.cursor, &many.message));
        assert_int_equal(many.message.kind, AL_RPC_INVALID);
        assert_non_null(strstr(many.message.problem, "twice"));
    }
}

static void a_response_that_is_said_twice_has_nothing_in_it(void **state)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"x\":1,\"x\":2}}";
    al_auto(line_clear) struct line line = parse(text);

    (void)state;
    assert_int_equal(line.message.kind, AL_RPC_RESPONSE);
    assert_string_equal(line.message.id, "\"q\"");
    assert_true(line.message.has_duplicates);
}

/* jansson skips a NUL behind a number, where other parsers see the end of the text. */
static void a_nul_byte_is_no_json(void **state)
{
    static const char *const rows[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1@,\"method\":\"m\",\"params\":{\"arguments\":[[]]}}",
        "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999@,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}@",
        "@{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"},1@]",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *text = al_strdup(rows[i]);

        *strchr(text, '@') = '\0';
        refuses(text, strlen(rows[i]), AL_RPC_PARSE_ERROR);
    }
}

static char *deep_arguments(size_t depth)
{
    struct al_str text = AL_STR_INIT;

    al_str_adds(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"arguments\":");
    for (size_t i = 0; i < depth; i++)
        al_str_adds(&text, i % 2 ? "[" : "{\"a\":");
    al_str_adds(&text, "1");
    for (size_t i = depth; i > 0; i--)
        al_str_addc(&text, i % 2 ? '}' : ']');
    al_str_adds(&text, "}}");
    return al_str_detach(&text);
}

static void arguments_have_a_depth_of_their_own(void **state)
{
    static const size_t max = AL_RPC_MAX_ARGUMENTS_DEPTH;

    (void)state;
    for (size_t depth = max - 1; depth <= max + 1; depth++) {
        al_auto(al_freep) char *text = deep_arguments(depth);
        al_auto(line_clear) struct line line = parse(text);

        assert_int_equal(line.message.kind, AL_RPC_REQUEST);
        assert_true((al_rpc_arguments_problem(&line.message) != NULL) == (depth > max));
    }
}

static void a_batch_is_walked_in_order(void **state)
{
    static const char text[] =
        "[ {\"jsonrpc\":\"2.0\",\"id\":11111111111111111111,\"method\":\"a\"},\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"b\"} , 7, [],"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"c\"}]";
    static const char *const ids[] = { "11111111111111111111", NULL, NULL, NULL, "2" };
    static const enum al_rpc_kind kinds[] = { AL_RPC_REQUEST, AL_RPC_NOTIFICATION, AL_RPC_INVALID,
                                              AL_RPC_INVALID, AL_RPC_REQUEST };
    al_auto(line_clear) struct line line = parse(text);

    (void)state;
    assert_true(al_rpc_doc_is_batch(&line.doc));
    for (size_t i = 0; i < COUNT(ids); i++) {
        assert_int_equal(line.message.kind, kinds[i]);
        assert_true((line.message.id != NULL) == (ids[i] != NULL));
        if (ids[i])
            assert_string_equal(line.message.id, ids[i]);
        assert_true(al_rpc_doc_next(&line.doc, &line.cursor, &line.message) ==
                    (i + 1 < COUNT(ids)));
    }
}

static void errors_are_one_line(void **state)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    (void)state;
    al_rpc_add_error(&line, "\"x\"", AL_RPC_INVALID_PARAMS, "a \"b\"\nc");
    assert_string_equal(line.buf, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32602,"
                                  "\"message\":\"a \\\"b\\\"\\nc\"}}");
    al_str_reset(&line);
    al_rpc_add_error(&line, NULL, AL_RPC_PARSE_ERROR, "no");
    assert_string_equal(line.buf,
                        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"no\"}}");
    al_str_reset(&line);
    al_rpc_add_error_data(&line, "1", AL_RPC_MISSING_CAPABILITY, "no form",
                          "{\"requiredCapabilities\":{\"elicitation\":{\"form\":{}}}}");
    assert_string_equal(line.buf, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32021,"
                                  "\"message\":\"no form\",\"data\":{\"requiredCapabilities\":"
                                  "{\"elicitation\":{\"form\":{}}}}}}");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_the_kinds_apart),
        cmocka_unit_test(what_is_not_json_has_no_message),
        cmocka_unit_test(what_is_not_json_may_have_an_id),
        cmocka_unit_test(nesting_has_the_parsers_limit),
        cmocka_unit_test(the_number_of_values_is_limited),
        cmocka_unit_test(only_arguments_are_held_to_more),
        cmocka_unit_test(what_is_said_twice_is_no_message),
        cmocka_unit_test(a_response_that_is_said_twice_has_nothing_in_it),
        cmocka_unit_test(a_nul_byte_is_no_json),
        cmocka_unit_test(arguments_have_a_depth_of_their_own),
        cmocka_unit_test(a_batch_is_walked_in_order),
        cmocka_unit_test(errors_are_one_line),
    };

    return cmocka_run_group_tests_name("wire/jsonrpc", tests, NULL, NULL);
}
