// SPDX-License-Identifier: Apache-2.0
/* Merging the versions of a file: what is clean, what conflicts, and what is not tried. */
#include "staging/pull/pull.h"

#include "tests/unit/staging/lib.h"

static void set_text(struct al_str *text, const char *content)
{
    al_str_reset(text);
    al_str_adds(text, content);
}

/* Merge texts; a NULL base is not known. */
static void assert_merges(struct stager *s, const char *const texts[3], enum al_text_merge outcome,
                          const char *content)
{
    al_auto(al_str_clear) struct al_str base = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str ours = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str theirs = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str merged = AL_STR_INIT;
    const struct al_merge_sides sides = { texts[0] ? &base : NULL, &ours, &theirs };
    enum al_text_merge found;

    set_text(&base, texts[0] ? texts[0] : "");
    set_text(&ours, texts[1]);
    set_text(&theirs, texts[2]);
    must(s, al_merge(s->staging, &sides, BUDGET, &found, &merged, &s->w->err));
    assert_int_equal(found, outcome);
    assert_string_equal(merged.buf, content);
}

static void merges_lines(void **state)
{
    static const char conflict[] = "<<<<<<< ours (sandbox)\nb\n=======\nc\n"
                                   ">>>>>>> theirs (incoming)\n";

    assert_merges(*state, (const char *const[]){ "a\n", "a\n", "b\n" }, AL_MERGE_CLEAN, "b\n");
    assert_merges(*state, (const char *const[]){ "a\n", "b\n", "a\n" }, AL_MERGE_CLEAN, "b\n");
    assert_merges(*state, (const char *const[]){ NULL, "a\n", "a\n" }, AL_MERGE_CLEAN, "a\n");
    assert_merges(*state, (const char *const[]){ "1\n2\n3\n", "0\n2\n3\n", "1\n2\n4\n" },
                  AL_MERGE_CLEAN, "0\n2\n4\n");
    assert_merges(*state, (const char *const[]){ "a\n", "b\n", "c\n" }, AL_MERGE_CONFLICT,
                  conflict);
    assert_merges(*state, (const char *const[]){ NULL, "b\n", "c\n" }, AL_MERGE_CONFLICT, conflict);
}

/* Merge a version of `len` bytes, with a NUL at `nul` if it is before the end, with another one. */
static enum al_text_merge outcome_of(struct stager *s, size_t len, size_t nul)
{
    al_auto(al_str_clear) struct al_str base = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str ours = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str theirs = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str merged = AL_STR_INIT;
    const struct al_merge_sides sides = { &base, &ours, &theirs };
    enum al_text_merge outcome;

    set_text(&base, "b\n");
    set_text(&theirs, "t\n");
    al_str_reserve(&ours, len);
    while (ours.len < len)
        al_str_add(&ours, "0123456789abcde\n", len - ours.len < 16 ? len - ours.len : 16);
    if (nul < len)
        ours.buf[nul] = '\0';
    must(s, al_merge(s->staging, &sides, BUDGET, &outcome, &merged, &s->w->err));
    if (outcome == AL_MERGE_BINARY || outcome == AL_MERGE_TOO_LARGE)
        assert_int_equal(merged.len, 0);
    return outcome;
}

static void binary_content_is_not_merged(void **state)
{
    assert_int_equal(outcome_of(*state, 9000, 0), AL_MERGE_BINARY);
    assert_int_equal(outcome_of(*state, 9000, 7999), AL_MERGE_BINARY);
    assert_int_equal(outcome_of(*state, 9000, 8000), AL_MERGE_CONFLICT);
    assert_int_equal(outcome_of(*state, 9000, 9000), AL_MERGE_CONFLICT);
}

/* Of two versions as long as this only the same beginnings were read. */
static enum al_text_merge outcome_of_equal(struct stager *s, size_t len)
{
    al_auto(al_str_clear) struct al_str base = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str both = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str merged = AL_STR_INIT;
    const struct al_merge_sides sides = { &base, &both, &both };
    enum al_text_merge outcome;

    while (both.len < len)
        al_str_addc(&both, '\n');
    must(s, al_merge(s->staging, &sides, BUDGET, &outcome, &merged, &s->w->err));
    return outcome;
}

static void large_content_is_not_merged(void **state)
{
    assert_int_equal(outcome_of(*state, AL_MERGE_MAX_BYTES - 1, SIZE_MAX), AL_MERGE_CONFLICT);
    assert_int_equal(outcome_of(*state, AL_MERGE_MAX_BYTES, SIZE_MAX), AL_MERGE_CONFLICT);
    assert_int_equal(outcome_of(*state, AL_MERGE_MAX_BYTES + 1, SIZE_MAX), AL_MERGE_TOO_LARGE);
    assert_int_equal(outcome_of_equal(*state, AL_MERGE_MAX_BYTES + 1), AL_MERGE_TOO_LARGE);
}

static void no_file_stays(void **state)
{
    struct stager *s = *state;
    al_auto(al_closedirp) DIR *dir = NULL;
    struct dirent *entry;

    assert_merges(s, (const char *const[]){ "1\n2\n3\n", "0\n2\n3\n", "1\n2\n4\n" }, AL_MERGE_CLEAN,
                  "0\n2\n4\n");
    dir = al_fs_list_at(s->staging->bare.dir_fd);
    assert_non_null(dir);
    while ((entry = readdir(dir)))
        assert_false(al_starts_with(entry->d_name, "tmp_"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGER_TEST(merges_lines),
        STAGER_TEST(binary_content_is_not_merged),
        STAGER_TEST(large_content_is_not_merged),
        STAGER_TEST(no_file_stays),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/merge", tests, NULL, NULL);
}
