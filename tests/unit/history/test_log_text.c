// SPDX-License-Identifier: Apache-2.0
/* history/journal.h: the texts of a line are cut and contain no secret. */
#include "tests/unit/history/fixture.h"

/* The result's text in the log after `text` was recorded. */
static char *recorded(const struct tmpdir *dir, const char *text, size_t len)
{
    struct al_journal *journal = journal_open(dir);
    const struct al_record_end end = { .text = text, .text_len = len };
    struct al_record *record = NULL;

    assert_int_equal(journal_begin(journal, "x", NULL, &record, NULL), 0);
    assert_int_equal(al_record_close(record, &end), 0);
    al_journal_free(journal);

    al_auto(al_freep) char *all = journal_text(dir);
    all[strlen(all) - 1] = '\0';
    const char *last = strrchr(all, '\n');
    al_auto(al_json_decrefp) json_t *line = json_loads(last ? last + 1 : all, 0, NULL);
    return al_strdup(al_json_get_string(json_object_get(line, "result"), "output"));
}

static void cuts_text_at_4096_bytes(void **state)
{
    static const size_t lengths[] = { 0, 1, 4095, 4096, 4097, 5119, 5120, 5121, 20000 };
    static const char fillers[] = { 'a', ' ', '\n' };

    for (size_t i = 0; i < COUNT(lengths) * COUNT(fillers); i++) {
        size_t len = lengths[i / COUNT(fillers)];
        al_auto(al_freep) char *text = al_calloc(len + 1, 1);

        memset(text, fillers[i % COUNT(fillers)], len);
        al_auto(al_freep) char *kept = recorded(*state, text, len);
        assert_int_equal(strlen(kept), len < 4096 ? len : 4096);
        assert_memory_equal(kept, text, strlen(kept));
    }
}

static void cuts_text_between_characters(void **state)
{
    static const char *const characters[] = { "\xc3\xa9", "\xe2\x80\xa6", "\xf0\x9f\x8c\xb2" };

    for (size_t i = 0; i < COUNT(characters); i++) {
        size_t width = strlen(characters[i]);

        /* The character ends one byte before the limit, at it, or up to its width beyond it. */
        for (size_t before = 4095 - width; before <= 4096; before++) {
            al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

            for (size_t n = 0; n < before; n++)
                al_str_addc(&text, 'a');
            for (int n = 0; n < 1000; n++)
                al_str_adds(&text, characters[i]);
            al_auto(al_freep) char *kept = recorded(*state, text.buf, text.len);
            size_t wanted = before + (4096 - before) / width * width;
            assert_int_equal(strlen(kept), wanted);
            assert_memory_equal(kept, text.buf, wanted);
        }
    }
}

static void hides_a_secret_that_lies_across_the_cut(void **state)
{
    static const char token[] = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    for (size_t before = 4096 - sizeof(token); before <= 4096; before++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        for (size_t n = 0; n + 1 < before; n++)
            al_str_addc(&text, 'a');
        al_str_addf(&text, " %s and more", token);
        for (size_t n = 0; n < 4000; n++)
            al_str_addc(&text, 'b');
        al_auto(al_freep) char *kept = recorded(*state, text.buf, text.len);
        assert_true(strlen(kept) <= 4096);
        assert_null(strstr(kept, "ghp_"));
    }
}

/* When redaction shortens the text, the end of what was read must still be cut off. */
static void hides_a_secret_that_lies_across_the_end_of_the_reading(void **state)
{
    static const char token[] = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    for (size_t filler = 0; filler < 64; filler++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        for (size_t n = 0; n < filler; n++)
            al_str_addc(&text, 'a');
        for (size_t n = 0; n < 400; n++)
            al_str_addf(&text, " %s", token);
        al_auto(al_freep) char *kept = recorded(*state, text.buf, text.len);
        assert_null(strstr(kept, "ghp"));
    }
}

static void redacts_what_it_writes(void **state)
{
    const struct al_record_end end = {
        .text = "remote: https://u:hidden@h/x",
        .text_len = 28,
        .summary = "Push to https://u:hidden@h/x",
    };
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    al_auto(al_json_decrefp) json_t *input = json_pack("{s:s}", "url", "https://u:hidden@h/x");
    struct al_record *record = NULL;

    assert_int_equal(journal_begin(journal, "x", input, &record, NULL), 0);
    assert_int_equal(al_record_close(record, &end), 0);
    al_journal_free(journal);
    al_auto(al_freep) char *line = journal_text(dir);
    assert_null(strstr(line, "hidden"));
    assert_non_null(strstr(line, "Push to https://[redacted]@h/x"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(cuts_text_at_4096_bytes),
        JOURNAL_TEST(cuts_text_between_characters),
        JOURNAL_TEST(hides_a_secret_that_lies_across_the_cut),
        JOURNAL_TEST(hides_a_secret_that_lies_across_the_end_of_the_reading),
        JOURNAL_TEST(redacts_what_it_writes),
    };

    return cmocka_run_group_tests_name("journal/log_text", tests, NULL, NULL);
}
