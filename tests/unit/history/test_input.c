// SPDX-License-Identifier: Apache-2.0
/* guard/redact.c: the arguments in the journal, whatever their size and names. */
#include "history/journal_private.h"

#include "guard/redact.h"
#include "tests/unit/history/fixture.h"

#define TOKEN "ghp_0123456789abcdefghijABCDEFGHIJ012345"

/* {"text":"…"} whose JSON has `len` bytes. */
static json_t *input_of(size_t len)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    json_t *input = al_json_object();

    for (size_t i = strlen("{\"text\":\"\"}"); i < len; i++)
        al_str_addc(&text, 'x');
    al_json_set(input, "text", al_json_stringn(text.buf, text.len));
    return input;
}

static char *recorded(json_t *input)
{
    const struct al_record_begin begin = { .tool = "x", .input = input };
    struct al_str out = AL_STR_INIT;
    json_t *recorded = al_redact_input(begin.input, begin.names);

    al_json_dump(recorded, true, &out);
    json_decref(recorded);
    json_decref(input);
    return al_str_detach(&out);
}

static void keeps_arguments_up_to_the_bound(void **state)
{
    static const size_t bound = AL_REDACT_INPUT_MAX_BYTES;

    (void)state;
    for (size_t len = bound - 1; len <= bound + 1; len++) {
        al_auto(al_freep) char *text = recorded(input_of(len));

        if (len <= bound)
            assert_int_equal(strlen(text), len);
        else
            assert_true(strlen(text) < 16384);
        assert_true((strstr(text, "[cut]") != NULL) == (len > bound));
    }
}

static void says_how_long_a_cut_value_was_and_its_digest(void **state)
{
    al_auto(al_json_decrefp) json_t *cut = NULL;
    json_t *input = al_json_object(), *list = al_json_array();
    al_auto(al_freep) char *text = NULL;
    al_auto(al_str_clear) struct al_str long_one = AL_STR_INIT;

    (void)state;
    for (int i = 0; i < 1000000; i++)
        al_str_addc(&long_one, 'a');
    for (int i = 0; i < 10000; i++)
        al_json_append(list, al_json_string("f"));
    al_json_set(input, "message", al_json_stringn(long_one.buf, long_one.len));
    al_json_set(input, "paths", list);
    al_json_set(input, "all", al_json_bool(true));
    text = recorded(input);
    cut = json_loads(text, 0, NULL);
    assert_true(al_starts_with(al_json_get_string(cut, "message"), "aaaaaaaa"));
    /* printf %1000000s | tr ' ' a | sha256sum */
    assert_non_null(strstr(al_json_get_string(cut, "message"),
                           "a... [1000000 bytes, SHA-256 "
                           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0]"));
    assert_true(al_starts_with(al_json_get_string(cut, "paths"), "[\"f\",\"f\","));
    assert_non_null(strstr(al_json_get_string(cut, "paths"), "... [40001 bytes, SHA-256 "));
    assert_true(json_is_true(json_object_get(cut, "all")));
    assert_non_null(strstr(al_json_get_string(cut, "[cut]"), " bytes, SHA-256 "));
}

/* The largest arguments of every kind: escapes, names, members, lists, depth. */
static json_t *large(int kind)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    json_t *input = al_json_object(), *list = al_json_array();

    for (int i = 0; i < 200000; i++)
        al_str_adds(&text, kind == 1 ? "\xc3\xa9" : "\x7f");
    for (int i = 0; kind == 2 && i < 30000; i++)
        al_json_append(list, al_json_string("\"\\\x7f"));
    for (int i = 0; kind == 3 && i < 40; i++) {
        al_auto(al_freep) char *name = al_asprintf("%d%.2000s", i, text.buf);

        al_json_set(input, name, al_json_stringn(text.buf, text.len));
    }
    for (int i = 0; kind == 4 && i < 50000; i++) {
        al_auto(al_freep) char *name = al_asprintf("member%d", i);

        al_json_set(input, name, al_json_string("\x7f"));
    }
    for (int i = 0; kind == 5 && i < 2000; i++) {
        json_t *outer = al_json_array();

        al_json_append(outer, list);
        al_json_append(outer, al_json_stringn(text.buf, 100));
        list = outer;
    }
    if (kind < 2)
        al_json_set(input, "text", al_json_stringn(text.buf, text.len));
    al_json_set(input, "list", list);
    return input;
}

static void bounds_arguments_and_lines_of_every_kind(void **state)
{
    static const char controls[] = "\x01\x02\x7f\x1f";
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (int i = 0; i < 4000; i++)
        al_str_add(&text, controls, 4);
    for (int kind = 0; kind < 6; kind++) {
        al_auto(al_freep) char *input = recorded(large(kind));
        al_auto(al_json_decrefp) json_t *again = large(kind);
        const struct al_record_end end = { .status = AL_ERR_BAD_ARGS,
                                           .text = text.buf,
                                           .text_len = text.len,
                                           .summary = text.buf,
                                           .root = text.buf + text.len - 4095,
                                           .repository = text.buf + text.len - 4095 };
        struct al_record *record = NULL;

        assert_true(strlen(input) <= AL_REDACT_INPUT_MAX_BYTES);
        assert_non_null(strstr(input, "[cut]"));
        assert_int_equal(journal_begin(journal, "x", again, &record, NULL), 0);
        assert_int_equal(al_record_close(record, &end), 0);
    }
    al_journal_free(journal);
    assert_intact(dir, 6);
    al_auto(al_freep) char *log = journal_text(dir);
    for (char *line = log, *next; (next = strchr(line, '\n')); line = next + 1)
        assert_true(next - line < AL_JOURNAL_RECORD_MAX_BYTES);
}

static bool is_path(const void *payload, const char *object, const char *member)
{
    return (!object || !strcmp(object, "in")) && !strcmp(member, payload);
}

static void keeps_names_that_look_like_secrets(void **state)
{
    static const struct {
        const char *input, *wanted;
    } cases[] = {
        { "{\"paths\":[\"" TOKEN "\",\"a://x@y\"],\"message\":\"" TOKEN "\"}",
          "{\"paths\":[\"" TOKEN "\",\"a://x@y\"],\"message\":\"[redacted]\"}" },
        { "{\"paths\":\"" TOKEN "\"}", "{\"paths\":\"" TOKEN "\"}" },
        { "{\"other\":[\"" TOKEN "\"]}", "{\"other\":[\"[redacted]\"]}" },
        /* only the parameter itself is a name, not the members of its value */
        { "{\"paths\":{\"paths\":\"" TOKEN "\"}}", "{\"paths\":{\"paths\":\"[redacted]\"}}" },
        { "{\"paths\":[[\"" TOKEN "\"]]}", "{\"paths\":[[\"[redacted]\"]]}" },
        { "{\"x\":{\"paths\":\"" TOKEN "\"}}", "{\"x\":{\"paths\":\"[redacted]\"}}" },
        /* a member of an object that is a parameter */
        { "{\"in\":{\"paths\":\"" TOKEN "\",\"x\":\"" TOKEN "\"}}",
          "{\"in\":{\"paths\":\"" TOKEN "\",\"x\":\"[redacted]\"}}" },
        { "{\"in\":{\"in\":{\"paths\":\"" TOKEN "\"}}}",
          "{\"in\":{\"in\":{\"paths\":\"[redacted]\"}}}" },
        { "{\"API_TOKEN\":{\"paths\":\"" TOKEN "\"}}", "{\"API_TOKEN\":\"[redacted]\"}" },
        { "{\"MY_TOKEN\":\"a\",\"paths\":[\"b\"]}",
          "{\"MY_TOKEN\":\"[redacted]\",\"paths\":[\"b\"]}" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_json_decrefp) json_t *input = json_loads(cases[i].input, 0, NULL);
        const struct al_redact_names names = { is_path, "paths" };
        const struct al_record_begin begin = { .tool = "x", .input = input, .names = &names };
        al_auto(al_json_decrefp) json_t *recorded = al_redact_input(begin.input, begin.names);
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_json_dump(recorded, true, &out);
        assert_string_equal(out.buf, cases[i].wanted);
    }
}

static void hides_a_secret_that_lies_across_the_cut(void **state)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    json_t *input = al_json_object();

    (void)state;
    while (text.len < 200000)
        al_str_adds(&text, "text " TOKEN " ");
    al_json_set(input, "message", al_json_stringn(text.buf, text.len));
    al_auto(al_freep) char *cut = recorded(input);
    assert_null(strstr(cut, "ghp_"));
    assert_non_null(strstr(cut, "text [redacted] "));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_arguments_up_to_the_bound),
        cmocka_unit_test(says_how_long_a_cut_value_was_and_its_digest),
        JOURNAL_TEST(bounds_arguments_and_lines_of_every_kind),
        cmocka_unit_test(keeps_names_that_look_like_secrets),
        cmocka_unit_test(hides_a_secret_that_lies_across_the_cut),
    };

    return cmocka_run_group_tests_name("journal/input", tests, NULL, NULL);
}
