// SPDX-License-Identifier: Apache-2.0
/* cli/review/lines.h: every byte of a text comes once, lines of a diff have their kind, and a long
 * line comes in pieces. */
#include "cli/review/lines.h"

#include <stdlib.h>

#include "tests/lib/assert.h"
#include "util/str.h"
#include "util/utf8.h"

/* The kinds of the lines of a text, a letter each; a further piece is a '.'. */
static char *kinds_of(const char *text)
{
    struct al_review_cutter cutter = AL_REVIEW_CUTTER_INIT(text, strlen(text));
    struct al_str kinds = AL_STR_INIT;
    struct al_review_line line;

    while (al_review_cutter_next(&cutter, &line))
        al_str_addc(&kinds, line.continues ? '.' : "nsfmh+- "[line.kind]);
    return al_str_detach(&kinds);
}

static void assert_kinds(const char *text, const char *wanted)
{
    al_auto(al_freep) char *kinds = kinds_of(text);

    assert_string_equal(kinds, wanted);
}

#define HEAD "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"

static void a_diff_has_its_kinds(void **state)
{
    (void)state;
    assert_kinds(" a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n" HEAD
                 "@@ -1,2 +1,2 @@ f\n one\n-two\n+three\n\\ No newline at end of file\nnote\n",
                 "ssnfmmmh -+ n");
    assert_kinds(HEAD "@@ -1 +1 @@\n-a\n+b\n" HEAD "@@ -0,0 +1 @@\n+b", "fmmmh-+fmmmh+");
    assert_kinds("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "fmmm");
    assert_kinds("diff --git a/b b/b\nnew file mode 100644\nindex 0..1\nBinary files differ\n",
                 "fmmm");
}

static void lines_of_a_hunk_are_counted(void **state)
{
    (void)state;
    assert_kinds(HEAD "@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n@@ x\n", "fmmmh-+n");
    assert_kinds(HEAD "@@ -1,1 +1,2 @@\n one\n+two\n+three\n-four\n", "fmmmh +nn");
    assert_kinds(HEAD "@@ -1,2 +1,2 @@\n one\n\nafter\n", "fmmmh  n");
    assert_kinds(HEAD "@@ -1,9 +1,9 @@\n one\n\u2026 7 more lines\n-x\n", "fmmmh nn");
    assert_kinds("diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n +b\n"
                 "- c\n++d\nnote\n",
                 "fmmmh +-+n");
}

static void other_text_is_no_diff(void **state)
{
    (void)state;
    assert_kinds("", "");
    assert_kinds("\n\n", "nn");
    assert_kinds("+a\n-b\n--- a/x\n+++ b/x\nindex 1..2\n", "nnnnn");
    assert_kinds("@@\n@@ -1\n@@ -1 +\n@@ -1 +1\n@@ -a +b @@\n@ -1 +1 @\n@@ +1 @@\n", "nnnnnnn");
    assert_kinds(" a | b\n a | 2 x\n | 2\na | 2 +\n a |\n 3 files\n files changed\n", "nnnnnnn");
    assert_kinds(" a | Bin 0 -> 3 bytes\n a | b | 12\n 3 files changed\n", "sss");
    assert_kinds("@@ -1,99999999999999999999999999 +1,99999999999999999999999999 @@\n+a\n", "h+");
}

static void every_byte_comes_once(void **state)
{
    static const size_t lengths[] = { 0, AL_REVIEW_PIECE_MAX_BYTES - 1, AL_REVIEW_PIECE_MAX_BYTES,
                                      AL_REVIEW_PIECE_MAX_BYTES + 1,
                                      3 * AL_REVIEW_PIECE_MAX_BYTES + 2 };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(lengths); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT, back = AL_STR_INIT;
        struct al_review_cutter cutter;
        struct al_review_line line;
        size_t nlines = 0;

        for (size_t k = 0; k < lengths[i]; k++)
            al_str_addc(&text, 'x');
        al_str_adds(&text, "\nend");
        cutter = AL_REVIEW_CUTTER_INIT(text.buf, text.len);
        while (al_review_cutter_next(&cutter, &line)) {
            assert_true(line.len <= AL_REVIEW_PIECE_MAX_BYTES);
            if (!line.continues && nlines++)
                al_str_addc(&back, '\n');
            al_str_add(&back, line.text, line.len);
        }
        assert_string_equal(back.buf, text.buf);
    }
}

static void a_piece_ends_between_characters(void **state)
{
    (void)state;
    for (size_t before = 0; before < 4; before++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        struct al_review_cutter cutter;
        struct al_review_line line;

        for (size_t i = 0; i < before; i++)
            al_str_addc(&text, 'x');
        while (text.len < 3 * AL_REVIEW_PIECE_MAX_BYTES)
            al_str_adds(&text, "\U0001F600");
        cutter = AL_REVIEW_CUTTER_INIT(text.buf, text.len);
        while (al_review_cutter_next(&cutter, &line))
            assert_true(al_utf8_valid(line.text, line.len));
    }
}

/* Bytes that are no UTF-8 come too, and pieces are never empty. */
static void broken_text_is_cut_too(void **state)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_review_cutter cutter;
    struct al_review_line line;
    size_t total = 0;

    (void)state;
    while (text.len < 2 * AL_REVIEW_PIECE_MAX_BYTES + 1)
        al_str_addc(&text, '\x80');
    cutter = AL_REVIEW_CUTTER_INIT(text.buf, text.len);
    while (al_review_cutter_next(&cutter, &line)) {
        assert_true(line.len > 0);
        total += line.len;
    }
    assert_int_equal(total, text.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diff_has_its_kinds),
        cmocka_unit_test(lines_of_a_hunk_are_counted),
        cmocka_unit_test(other_text_is_no_diff),
        cmocka_unit_test(every_byte_comes_once),
        cmocka_unit_test(a_piece_ends_between_characters),
        cmocka_unit_test(broken_text_is_cut_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
