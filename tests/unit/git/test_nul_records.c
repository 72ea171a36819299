// SPDX-License-Identifier: Apache-2.0
/* git/run.h: NUL-separated records mean the same however the bytes arrive. */
#include "git/run.h"

#include "tests/lib/assert.h"

#define FIELD_LIMIT (16u << 20)

struct seen {
    struct al_str text; /* every field as <field>, every record ended by '.' */
    size_t nfields, records, stop_after;
};

static bool take(void *payload, char *const *fields)
{
    struct seen *seen = payload;

    for (size_t i = 0; i < seen->nfields; i++)
        al_str_addf(&seen->text, "<%s>", fields[i]);
    al_str_addc(&seen->text, '.');
    return ++seen->records != seen->stop_after;
}

/* Feeds `len` bytes in two pieces and gives what was seen.  Caller frees. */
static char *feed_split(size_t nfields, const char *data, size_t len, size_t split)
{
    struct seen seen = { .text = AL_STR_INIT, .nfields = nfields };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(nfields, take, &seen);

    assert_true(al_nul_records_add(&records, data, split));
    assert_true(al_nul_records_add(&records, data + split, len - split));
    return al_str_detach(&seen.text);
}

static void reads_the_same_records_at_every_split_point(void **state)
{
    static const char data[] = "a\nb\0\0three\0d\0e f\0\n\0unfinished";

    (void)state;
    for (size_t split = 0; split < sizeof(data); split++) {
        al_auto(al_freep) char *seen = feed_split(3, data, sizeof(data) - 1, split);

        assert_string_equal(seen, "<a\nb><><three>.<d><e f><\n>.");
    }
}

static void reads_records_of_every_width(void **state)
{
    static const char data[] = "1\0002\0003\0004\0005\0006\0";
    static const char *const expected[AL_RECORD_FIELDS_MAX] = {
        "<1>.<2>.<3>.<4>.<5>.<6>.", "<1><2>.<3><4>.<5><6>.",
        "<1><2><3>.<4><5><6>.",     "<1><2><3><4>.",
        "<1><2><3><4><5>.",         "<1><2><3><4><5><6>.",
    };

    (void)state;
    for (size_t n = 1; n <= AL_RECORD_FIELDS_MAX; n++) {
        al_auto(al_freep) char *seen = feed_split(n, data, sizeof(data) - 1, 0);

        assert_string_equal(seen, expected[n - 1]);
    }
}

static void stops_when_enough_was_seen(void **state)
{
    struct seen seen = { .text = AL_STR_INIT, .nfields = 1, .stop_after = 2 };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take, &seen);

    (void)state;
    assert_true(al_nul_records_add(&records, "one\0", 4));
    assert_false(al_nul_records_add(&records, "two\0three\0", 10));
    assert_string_equal(seen.text.buf, "<one>.<two>.");
    al_str_clear(&seen.text);
}

/* The length of a field of `given` bytes once it was read, whole or in two pieces. */
static size_t length_kept(size_t given, size_t split)
{
    al_auto(al_freep) char *data = al_malloc(given + 1);
    al_auto(al_freep) char *seen = NULL;

    memset(data, 'x', given);
    data[given] = '\0';
    seen = feed_split(1, data, given + 1, split);
    return strlen(seen) - strlen("<>.");
}

static void cuts_a_field_at_the_limit(void **state)
{
    (void)state;
    assert_int_equal(length_kept(FIELD_LIMIT - 1, 0), FIELD_LIMIT - 1);
    assert_int_equal(length_kept(FIELD_LIMIT, 0), FIELD_LIMIT);
    assert_int_equal(length_kept(FIELD_LIMIT + 1, 0), FIELD_LIMIT);
    assert_int_equal(length_kept(FIELD_LIMIT + 1, FIELD_LIMIT), FIELD_LIMIT);
    assert_int_equal(length_kept(3 * FIELD_LIMIT, FIELD_LIMIT + 7), FIELD_LIMIT);
}

static void reads_on_after_a_field_that_was_cut(void **state)
{
    static const char tail[] = "\0next"; /* with the NUL that ends it */
    al_auto(al_freep) char *data = al_malloc(FIELD_LIMIT + 5 + sizeof(tail));
    al_auto(al_freep) char *seen = NULL;

    (void)state;
    memset(data, 'x', FIELD_LIMIT + 5);
    memcpy(data + FIELD_LIMIT + 5, tail, sizeof(tail));
    seen = feed_split(1, data, FIELD_LIMIT + 5 + sizeof(tail), 3);
    assert_string_equal(seen + FIELD_LIMIT + 1, ">.<next>.");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_same_records_at_every_split_point),
        cmocka_unit_test(reads_records_of_every_width),
        cmocka_unit_test(stops_when_enough_was_seen),
        cmocka_unit_test(cuts_a_field_at_the_limit),
        cmocka_unit_test(reads_on_after_a_field_that_was_cut),
    };

    return cmocka_run_group_tests_name("gitops/records", tests, NULL, NULL);
}
