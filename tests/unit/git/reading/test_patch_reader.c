// SPDX-License-Identifier: Apache-2.0
/* git/diff/diff.c: files and hunks, however the input is split. */
#include "git/diff/diff.h"

#include <string.h>

#include "tests/lib/assert.h"

static bool take_file(void *payload, const struct al_patch_file *file)
{
    al_str_addf(payload, "[%s%s%s%s%s%s%s%s]", file->old_path ? file->old_path : "",
                file->old_path ? ">" : "", file->path, file->is_new ? " new" : "",
                file->is_deleted ? " deleted" : "", file->is_binary ? " binary" : "",
                file->is_unmerged ? " unmerged" : "", file->is_copy ? " copy" : "");
    if (file->old_mode && file->mode && file->old_mode != file->mode)
        al_str_addf(payload, "(%o %o)", file->old_mode, file->mode);
    return true;
}

static bool take_hunk(void *payload, const char *part, size_t len, bool is_first)
{
    al_str_adds(payload, is_first ? "<" : "+");
    al_str_add(payload, part, len);
    return true;
}

/* Read a patch in pieces of this size. */
static void check_pieces(const char *patch, size_t piece, const char *expected)
{
    al_auto(al_str_clear) struct al_str got = AL_STR_INIT;
    const struct al_patch_taker to = { take_file, take_hunk, &got };
    al_auto(al_change_reader_clear) struct al_change_reader reader;
    size_t len = strlen(patch);

    al_change_reader_init(&reader, NULL, &to);
    reader.files.in_patch = true;
    for (size_t at = 0; at < len; at += piece)
        assert_true(al_change_reader_add(&reader, patch + at, len - at < piece ? len - at : piece));
    assert_true(al_change_reader_end(&reader));
    assert_string_equal(got.buf, expected);
}

static void check(const char *patch, const char *expected)
{
    for (size_t piece = 1; piece < 9; piece++)
        check_pieces(patch, piece, expected);
    check_pieces(patch, 4096, expected);
}

static void files_and_hunks(void **state)
{
    (void)state;
    check("", "");
    check("diff --git a/x y b/x y\nindex 1..2 100644\n--- a/x y\t\n+++ b/x y\t\n"
          "@@ -1 +1 @@ f\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n",
          "[x y]<@@ -1 +1 @@ f\n-a\n+b\n<@@ -9 +9 @@\n-c\n+d\n");
    check("diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n"
          "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
          "[n new]<@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
}

static void files_without_hunks(void **state)
{
    (void)state;
    check("diff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
          "diff --git a/b c b/b c\nindex 1..2 100644\nBinary files a/b c and b/b c differ\n"
          "diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n"
          "diff --git a/e b/e\ndeleted file mode 100644\nindex 1..0\n* Unmerged path u\n",
          "[m](100644 100755)[b c binary][o>n][e deleted][u unmerged]");
}

static void quoted_names(void **state)
{
    (void)state;
    check("diff --git \"a/t\\tab\" \"b/t\\tab\"\nold mode 100644\nnew mode 100755\n",
          "[t\tab](100644 100755)");
    check("diff --git \"a/q\\\"\" b/n\nsimilarity index 90%\nrename from \"q\\\"\"\nrename to n\n",
          "[q\">n]");
}

static void content_is_no_header(void **state)
{
    (void)state;
    check("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n"
          "-diff --git a/y b/y\n--- a/y\n+++ b/y\n+@@ -1 +1 @@\n",
          "[x]<@@ -1,2 +1,2 @@\n-diff --git a/y b/y\n--- a/y\n+++ b/y\n+@@ -1 +1 @@\n");
}

static void a_long_hunk_comes_in_parts(void **state)
{
    al_auto(al_str_clear) struct al_str patch = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str got = AL_STR_INIT;
    const struct al_patch_taker to = { take_file, take_hunk, &got };
    al_auto(al_change_reader_clear) struct al_change_reader reader;

    (void)state;
    al_str_adds(&patch, "diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,40000 @@\n");
    for (int i = 0; i < 40000; i++)
        al_str_adds(&patch, "+123456789\n");
    al_change_reader_init(&reader, NULL, &to);
    reader.files.in_patch = true;
    assert_true(al_change_reader_add(&reader, patch.buf, patch.len));
    assert_true(al_change_reader_end(&reader));
    assert_non_null(strstr(got.buf, "\n++123456789\n"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_hunks),
        cmocka_unit_test(files_without_hunks),
        cmocka_unit_test(quoted_names),
        cmocka_unit_test(content_is_no_header),
        cmocka_unit_test(a_long_hunk_comes_in_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
