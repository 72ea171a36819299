// SPDX-License-Identifier: Apache-2.0
/* gitops/hunks.c: hunks begin and end where the patch says, whatever its content looks like. */
#include "gitops/hunks.h"

#include "tests/lib/assert.h"
#include "util/str.h"

static void note(void *payload, const struct al_hunk *hunk)
{
    al_str_addf(payload, "%s %d,%d %d,%d [%.*s] %zu\n", hunk->file, (int)hunk->old_start,
                (int)hunk->old_lines, (int)hunk->new_start, (int)hunk->new_lines,
                (int)hunk->header_len, hunk->header, hunk->body_len);
}

/* The number of files, and every hunk on a line: file, ranges, header, bytes of its lines. */
static void reads(const char *patch, size_t files, const char *wanted)
{
    al_auto(al_str_clear) struct al_str seen = AL_STR_INIT;

    assert_int_equal(al_hunks_read(patch, strlen(patch), note, &seen), files);
    assert_string_equal(seen.buf, wanted);
    assert_int_equal(al_hunks_read(patch, strlen(patch), NULL, NULL), files);
}

#define FILE_A "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n"

static void plain_hunks(void **state)
{
    (void)state;
    reads("", 0, "");
    reads(FILE_A "@@ -1,2 +1,2 @@ int main(void)\n x\n-y\n+z\n", 1,
          "a 1,2 1,2 [int main(void)] 9\n");
    reads(FILE_A "@@ -1 +1 @@\n-y\n+z\n@@ -9,0 +9 @@\n+w\n", 1, "a 1,1 1,1 [] 6\na 9,0 9,1 [] 3\n");
    reads(FILE_A "@@ -1 +1 @@\n-y\n+z", 1, "a 1,1 1,1 [] 5\n");
    reads(FILE_A
          "@@ -1 +1 @@\n-y\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n",
          1, "a 1,1 1,1 [] 62\n");
    reads(FILE_A "@@ -1,3 +1,3 @@\n x\n\n-y\n+z\n", 1, "a 1,3 1,3 [] 10\n");
    reads("diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"
          "diff --git a/b b/b\nBinary files a/b and b/b differ\n* Unmerged path c\n",
          3, "");
}

static void names(void **state)
{
    static const struct {
        const char *old, *new, *name;
    } facts[] = {
        { "a/x", "b/x", "x" },
        { "a/old", "b/new", "new" },
        { "a/gone", "/dev/null", "gone" },
        { "/dev/null", "b/came", "came" },
        { "a/a b\t", "b/a b\t", "a b" },
        { "\"a/q\\\"\"", "\"b/q\\\"\"", "q\"" },
        { "\"a/\\303\\244\"", "\"b/\\303\\244\"", "\xc3\xa4" },
        { "\"a/x\"", "\"b/\\a\\b\\t\\n\\v\\f\\r\\\\\"", "\a\b\t\n\v\f\r\\" },
        { "\"a/x\"", "\"b/\\9\\12\\\"", "\\9\\12\"" },
        { "\"a/x\"", "\"b/open", "open" },
        { "x", "y", "y" },
        { "a/x", "b/", "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        al_auto(al_freep) char *patch = al_asprintf(
            "diff --git x y\n--- %s\n+++ %s\n@@ -1 +1 @@\n-1\n+2\n", facts[i].old, facts[i].new);
        al_auto(al_freep) char *wanted = al_asprintf("%s 1,1 1,1 [] 6\n", facts[i].name);

        reads(patch, 1, wanted);
    }
}

static void content_is_no_header(void **state)
{
    (void)state;
    reads(FILE_A "@@ -1,3 +1,3 @@\n--- a/x\n-diff --git a/x b/x\n-@@ -1 +1 @@\n"
                 "+++ b/y\n+@@ -5 +5 @@\n+* Unmerged path\n",
          1, "a 1,3 1,3 [] 79\n");
}

static void combined_hunks(void **state)
{
    (void)state;
    reads("diff --cc a\nindex 1,2..3\n--- a/a\n+++ b/a\n@@@ -1,2 -3,4 +5,6 @@@ head\n"
          "++<<<<<<< ours\n +x\n++=======\n+ y\n++>>>>>>> theirs\ndiff --git a/b b/b\n",
          2, "a 1,2 5,6 [head] 50\n");
    reads("diff --combined a\n--- a/a\n+++ b/a\n@@@@ -1 -1 -1 +1 @@@@\n+++x\n", 1,
          "a 1,1 1,1 [] 5\n");
}

static void what_is_no_hunk(void **state)
{
    static const char *const lines[] = {
        "@@",
        "@@ @@",
        "@@ -1 @@",
        "@@ +1 @@",
        "@@ -1 +1",
        "@@ -1 +1 @",
        "@@ -1 +1 @-@",
        "@@ -1, +1 @@",
        "@@ -,1 +1 @@",
        "@@ -a +1 @@",
        "@ -1 +1 @",
        "@@@ -1 +1 @@@",
        "@@ -1 -1 +1 @@",
        "@@ -1 +1@@",
        "@@ -2147483648 +1 @@",
        "@@ -1 +1,99999999999999999999 @@",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        al_auto(al_freep) char *patch = al_asprintf(FILE_A "%s\n-1\n+2\n", lines[i]);

        reads(patch, 1, "");
    }
    reads("@@ -1 +1 @@\n-1\n+2\n", 0, ""); /* of no file */
}

static void counts_that_lie(void **state)
{
    (void)state;
    reads(FILE_A "@@ -1,2147483647 +1,2147483647 @@\n-1\n+2\n" FILE_A, 2,
          "a 1,2147483647 1,2147483647 [] 6\n");
    reads(FILE_A "@@ -1,0 +1,0 @@\n-1\n+2\n@@ -4 +4 @@\n-1\n+2\n", 1,
          "a 1,0 1,0 [] 0\na 4,1 4,1 [] 6\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_hunks),          cmocka_unit_test(names),
        cmocka_unit_test(content_is_no_header), cmocka_unit_test(combined_hunks),
        cmocka_unit_test(what_is_no_hunk),      cmocka_unit_test(counts_that_lie),
    };

    return cmocka_run_group_tests_name("gitops/hunks", tests, NULL, NULL);
}
