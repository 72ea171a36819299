// SPDX-License-Identifier: Apache-2.0
/* gitops/reading/log_reader.c: commits and their changes, however the input is split. */
#include "git/reading/read_log.h"

#include <string.h>

#include "tests/lib/assert.h"

static bool take_commit(void *payload, const struct al_logged *commit)
{
    al_str_addf(payload, "{%s|%s|%s|%s|%s|%s}", commit->hash, commit->date, commit->author,
                commit->decorations, commit->parents, commit->message);
    return true;
}

static bool take_files(void *payload, const struct al_diff_raw *files)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct al_change *file = &files->items[i];

        al_str_addf(payload, "(%s%s%s %u %u%s)", file->old_path ? file->old_path : "",
                    file->old_path ? ">" : "", file->path, (unsigned)file->added,
                    (unsigned)file->deleted, file->binary ? " binary" : "");
    }
    return true;
}

static bool take_file(void *payload, const struct al_patch_file *file)
{
    al_str_addf(payload, "[%s]", file->path);
    return true;
}

static bool take_hunk(void *payload, const char *part, size_t len, bool is_first)
{
    (void)is_first;
    al_str_add(payload, part, len);
    return true;
}

static void check(const struct al_log_query *query, const char *output, size_t len,
                  const char *expected)
{
    static const size_t pieces[] = { 1, 2, 3, 7, 4096 };

    for (size_t i = 0; i < AL_COUNT(pieces); i++) {
        al_auto(al_str_clear) struct al_str got = AL_STR_INIT;
        const struct al_log_taker to = { .take_commit = take_commit,
                                         .take_files = take_files,
                                         .patch = { take_file, take_hunk, &got } };
        al_auto(al_log_reader_clear) struct al_log_reader reader;

        al_log_reader_init(&reader, query, &to);
        for (size_t at = 0; at < len; at += pieces[i])
            assert_true(al_log_reader_add(&reader, output + at,
                                          len - at < pieces[i] ? len - at : pieces[i]));
        al_log_reader_end(&reader);
        assert_string_equal(got.buf, expected);
    }
}
#define CHECK(query, output, expected) check(query, output, sizeof(output) - 1, expected)

#define HEADER(hash)                   "\0" hash "\0d\0who\0deco\0\0"

static void one_line_a_commit(void **state)
{
    const struct al_log_query query = { .range = NULL };

    (void)state;
    CHECK(&query, "", "");
    CHECK(&query, HEADER("a1") "one\0" HEADER("b2") "\0", "{a1|d|who|deco||one}{b2|d|who|deco||}");
}

static void numbers_of_files(void **state)
{
    const struct al_log_query query = { .stat = true };

    (void)state;
    CHECK(&query,
          HEADER("a1") "one\n\0\0\n1\t2\tx y\0"
                       "0\t0\t\0old\0new\0-\t-\tbin\0" HEADER("b2") "two\0\0" HEADER(
                           "c3") "three\0\0\n3\t0\tz\0",
          "{a1|d|who|deco||one}(x y 1 2)(old>new 0 0)(bin 0 0 binary){b2|d|who|deco||two}"
          "{c3|d|who|deco||three}(z 3 0)");
}

static void patches(void **state)
{
    const struct al_log_query query = { .patch = true };

    (void)state;
    CHECK(&query,
          HEADER("a1") "one\n\ndiff --git a/f b/f\n\0\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n"
                       "@@ -1 +1 @@\n-a\n+b\n" HEADER("b2") "two\0\n" HEADER("c3") "three\0\n",
          "{a1|d|who|deco||one\n\ndiff --git a/f b/f}[x]@@ -1 +1 @@\n-a\n+b\n"
          "{b2|d|who|deco||two}{c3|d|who|deco||three}");
}

static void one_commit(void **state)
{
    const struct al_log_query query = { .no_walk = true, .patch = true };

    (void)state;
    CHECK(&query,
          "\0a1\0d\0who\0\0p1 p2\0one\0\0\n1\t1\tx\0\0diff --git a/x b/x\n--- a/x\n+++ b/x\n"
          "@@ -1 +1 @@\n-a\n+b\n",
          "{a1|d|who||p1 p2|one}(x 1 1)[x]@@ -1 +1 @@\n-a\n+b\n");
    CHECK(&query, "\0a1\0d\0who\0\0\0one\0\0", "{a1|d|who|||one}");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_a_commit),
        cmocka_unit_test(numbers_of_files),
        cmocka_unit_test(patches),
        cmocka_unit_test(one_commit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
