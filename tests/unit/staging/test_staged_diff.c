// SPDX-License-Identifier: Apache-2.0
/* staging/staged_diff.h: what git_diff shows of a staged commit. */
#include "guard/text.h"
#include "tests/unit/staging/lib.h"

/* The diff of the last staged commit without its first line, which is checked.  Caller frees. */
static char *diff_of(struct stager *s, size_t max_bytes, bool *ret_truncated)
{
    al_auto(al_freep) char *first =
        al_asprintf("Staged commit: %.8s \"%.*s\"\n", s->last.id,
                    (int)strcspn(s->last.message, "\n"), s->last.message);
    struct al_str text = AL_STR_INIT;

    *ret_truncated = false;
    must(s,
         al_staged_diff(s->staging, &s->last, max_bytes, BUDGET, &text, ret_truncated, &s->w->err));
    assert_true(text.len <= max_bytes || !strcmp(text.buf, AL_TEXT_MARKER));
    if (max_bytes > 100) {
        assert_true(al_starts_with(text.buf, first));
        memmove(text.buf, text.buf + strlen(first), text.len - strlen(first) + 1);
    }
    return al_str_detach(&text);
}

static void assert_diff(struct stager *s, const char *wanted)
{
    bool truncated;
    al_auto(al_freep) char *text = diff_of(s, 1u << 20, &truncated);

    assert_string_equal(text, wanted);
    assert_false(truncated);
}

static void shows_new_changed_and_deleted_files(void **state)
{
    struct stager *s = *state;

    pull(s, "changed", 0100644, "1\n2\n3\n4\n5\n");
    pull(s, "deleted", 0100644, "gone\n");
    put(s, "changed", "1\n2\n3!\n4\n5\n");
    put(s, "deleted", NULL);
    put(s, "charts/new", "# Report\n\nText\n");
    stage(s, "/workspace", "Add report\n\nWith a body");
    assert_diff(s, "\n--- a/workspace/changed\n+++ b/workspace/changed\n@@ -1,5 +1,5 @@\n 1\n 2\n"
                   "-3\n+3!\n 4\n 5\n"
                   "\n--- /dev/null\n+++ /workspace/charts/new\n@@ -0,0 +1,3 @@\n+# Report\n+\n"
                   "+Text\n"
                   "\n--- /workspace/deleted\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n");
}

static void content_cannot_pass_for_a_header(void **state)
{
    struct stager *s = *state;

    pull(s, "a", 0100644, "-- a/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n");
    put(s, "a", "++ b/x\n-- /dev/null\nBinary files a and b differ\nold mode 100644");
    stage(s, "/workspace", "x");
    assert_diff(s, "\n--- a/workspace/a\n+++ b/workspace/a\n@@ -1,3 +1,4 @@\n--- a/x\n"
                   "-@@ -1 +1 @@\n-diff --git a/x b/x\n+++ b/x\n+-- /dev/null\n"
                   "+Binary files a and b differ\n+old mode 100644\n"
                   "\\ No newline at end of file\n");
}

static void shows_empty_and_binary_files_and_modes(void **state)
{
    struct stager *s = *state;
    struct al_sandbox_file file = { .path = (char *)"tool", .mode = 0100755 };

    pull(s, "tool", 0100644, "1\n");
    al_oid_of(false, AL_OBJECT_BLOB, "1\n", 2, &file.oid);
    must(s, al_sandbox_import(s->sandbox, &file, 1, &s->w->err));
    put(s, "empty", "");
    must(s, al_sandbox_write(s->sandbox, "image", "\0\1\2", 3, &s->w->err));
    stage(s, "/workspace", "x");
    assert_diff(s, "\n--- /dev/null\n+++ /workspace/empty\n"
                   "\n--- /dev/null\n+++ /workspace/image\nBinary files differ\n"
                   "\nold mode 100644\nnew mode 100755\n--- a/workspace/tool\n"
                   "+++ b/workspace/tool\n");
    must(s, al_sandbox_write(s->sandbox, "image", "\0\1\3", 3, &s->w->err));
    stage(s, "/workspace", "y");
    assert_diff(s, "\n--- a/workspace/image\n+++ b/workspace/image\nBinary files differ\n");
}

static void names_are_shown_as_they_are(void **state)
{
    struct stager *s = *state;

    put(s, "b/workspace/b c", "1\n");
    put(s, "\xc3\xa4 \xe2\x80\xae.md", "\033[31m1\n");
    stage(s, "/workspace", "x");
    assert_diff(s, "\n--- /dev/null\n+++ /workspace/b/workspace/b c\n@@ -0,0 +1 @@\n+1\n"
                   "\n--- /dev/null\n+++ /workspace/\xc3\xa4 <U+202E>.md\n@@ -0,0 +1 @@\n"
                   "+<U+001B>[31m1\n");
}

static void is_a_diff_to_what_was_staged_before(void **state)
{
    struct stager *s = *state;

    put(s, "a", "1\n");
    stage(s, "/workspace", "one");
    put(s, "a", "2\n");
    stage(s, "/workspace", "two");
    assert_diff(s, "\n--- a/workspace/a\n+++ b/workspace/a\n@@ -1 +1 @@\n-1\n+2\n");
}

static void is_cut_at_the_cap(void **state)
{
    struct stager *s = *state;
    al_auto(al_freep) char *whole = NULL;
    bool truncated;
    size_t len;

    put(s, "a", "1\n");
    put(s, "b", "a line of some length\n");
    put(s, "c", "another line\n");
    stage(s, "/workspace", "x");
    whole = diff_of(s, 1u << 20, &truncated);
    len = strlen(whole) + strlen("Staged commit: 12345678 \"x\"\n");
    for (size_t max = 0; max <= len + 1; max++) {
        al_auto(al_freep) char *text = diff_of(s, max, &truncated);

        assert_int_equal(truncated, max < len);
        if (max > 100 && max < len) {
            assert_non_null(strstr(text, " of 3 files, the last one in part]"));
            assert_true(al_ends_with(text, AL_TEXT_MARKER));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGER_TEST(shows_new_changed_and_deleted_files),
        STAGER_TEST(content_cannot_pass_for_a_header),
        STAGER_TEST(shows_empty_and_binary_files_and_modes),
        STAGER_TEST(names_are_shown_as_they_are),
        STAGER_TEST(is_a_diff_to_what_was_staged_before),
        STAGER_TEST(is_cut_at_the_cap),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/staged_diff", tests, NULL, NULL);
}
