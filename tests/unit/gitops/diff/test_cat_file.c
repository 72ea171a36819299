// SPDX-License-Identifier: Apache-2.0
/* gitops/diff/cat_file.c: blobs are read byte for byte, in whole groups, and within the limit. */
#include "gitops/command.h"
#include "gitops/diff/cat_file.h"
#include "gitops/refs.h"
#include "tests/unit/gitops/lib.h"

static char *oid_of(struct world *w, const char *name, const void *data, size_t len)
{
    char *oid;

    tmpdir_write_bytes(w->repo, name, data, len);
    oid = git_output(w->repo, "hash-object", "-w", name, NULL);
    oid[strcspn(oid, "\n")] = '\0';
    return oid;
}

static void reads_what_fits_group_by_group(void **state)
{
    static const struct {
        size_t max_bytes;
        bool kept[3];
    } cases[] = {
        { 0, { false, false, false } },     { 6, { false, false, true } },
        { 7, { true, true, false } },       { 9, { true, true, false } },
        { 10, { true, true, true } },       { 11, { true, true, true } },
        { SIZE_MAX, { true, true, true } },
    };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *four = oid_of(w, "four", "a\0\nb", 4);
    al_auto(al_freep) char *three = oid_of(w, "three", "\n\n\n", 3);

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct al_blob blobs[] = { { .oid = four },
                                   { .oid = three },
                                   { .oid = three, .group = 1 } };
        struct al_run_limits budget = long_budget();

        assert_int_equal(
            al_git_cat_file(repo, blobs, COUNT(blobs), cases[i].max_bytes, &budget, &w->err), 0);
        assert_int_equal(blobs[0].size, 4);
        for (size_t k = 0; k < COUNT(blobs); k++) {
            assert_true(blobs[k].exists);
            assert_int_equal(blobs[k].kept, cases[i].kept[k]);
            assert_int_equal(blobs[k].data.len, blobs[k].kept ? blobs[k].size : 0);
        }
        if (blobs[0].kept)
            assert_memory_equal(blobs[0].data.buf, "a\0\nb", 4);
        al_cat_file_clear(blobs, COUNT(blobs));
    }
}

static void a_small_group_follows_one_that_is_too_large(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *four = oid_of(w, "four", "four", 4);
    al_auto(al_freep) char *none = oid_of(w, "none", "", 0);
    struct al_blob blobs[] = { { .oid = four }, { .oid = none, .group = 1 } };
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_git_cat_file(repo, blobs, 2, 3, &budget, &w->err), 0);
    assert_false(blobs[0].kept);
    assert_true(blobs[1].kept);
    assert_int_equal(blobs[1].data.len, 0);
    al_cat_file_clear(blobs, 2);
}

static void tells_what_is_no_blob(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *commit = al_ref_head(&repo->at);
    al_auto(al_freep) char *four = oid_of(w, "four", "four", 4);
    struct al_blob blobs[] = {
        { .oid = commit },
        { .oid = "1234567890123456789012345678901234567890", .group = 1 },
        { .oid = four, .group = 2 },
    };
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_git_cat_file(repo, blobs, COUNT(blobs), 100, &budget, &w->err), 0);
    assert_false(blobs[0].exists || blobs[0].kept);
    assert_false(blobs[1].exists || blobs[1].kept);
    assert_string_equal(blobs[2].data.buf, "four");
    al_cat_file_clear(blobs, COUNT(blobs));
}

static void reads_answers_split_anywhere_and_no_others(void **state)
{
    static const char answer[] = "aa blob 3\nx\ny\nbb missing\ncc blob 0\n\n";
    static const char *const broken[] = {
        "aa blob 3\nabcd",   "zz blob 3\nabc\n", "aa blob -3\n",        "aa blob 3x\nabc\n",
        "aa blob 4\nabcd\n", "aa tree 3\n",      "aa blob 3\nabc\nbb ", "aa\n",
    };

    (void)state;
    for (size_t piece = 1; piece <= 3; piece++) {
        struct al_blob blobs[] = { { .oid = "aa", .kept = true, .size = 3, .data = AL_STR_INIT },
                                   { .oid = "bb", .data = AL_STR_INIT },
                                   { .oid = "cc", .kept = true, .data = AL_STR_INIT } };
        al_auto(al_blob_reader_clear) struct al_blob_reader batch =
            AL_BLOB_READER_INIT(blobs, 1, true);

        for (size_t at = 0; at < strlen("aa blob 3\nx\ny\n"); at += piece)
            assert_true(al_blob_reader_add(&batch, answer + at, at + piece > 14 ? 14 - at : piece));
        assert_int_equal(batch.at, 1);
        assert_string_equal(blobs[0].data.buf, "x\ny");
        al_cat_file_clear(blobs, COUNT(blobs));
    }
    for (size_t i = 0; i < COUNT(broken); i++) {
        struct al_blob blobs[] = { { .oid = "aa", .kept = true, .size = 3, .data = AL_STR_INIT },
                                   { .oid = "bb", .data = AL_STR_INIT } };
        al_auto(al_blob_reader_clear) struct al_blob_reader batch =
            AL_BLOB_READER_INIT(blobs, 2, true);

        (void)al_blob_reader_add(&batch, broken[i], strlen(broken[i]));
        assert_true(batch.broken || batch.left || batch.at < 1);
        al_cat_file_clear(blobs, COUNT(blobs));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(reads_what_fits_group_by_group),
        WORLD_TEST(a_small_group_follows_one_that_is_too_large),
        WORLD_TEST(tells_what_is_no_blob),
        cmocka_unit_test(reads_answers_split_anywhere_and_no_others),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
