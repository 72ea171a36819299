// SPDX-License-Identifier: Apache-2.0
/* review/lines.h: every byte of a text comes once, lines of a diff have their kind, and a
 * long line comes in pieces. */
#include "review/lines.h"

#include <stdlib.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tests/lib/assert.h"

/* The kinds of the lines of a text, a letter each; a further piece is a '.'. */
static char *kinds_of(const char *text)
{
    struct al_str kinds = AL_STR_INIT;
    al_auto(al_freep) struct al_review_line *lines = NULL;
    const size_t count = al_review_cut(text, strlen(text), &lines);

    for (size_t i = 0; i < count; i++)
        al_str_addc(&kinds, lines[i].continues ? '.' : "nfmh+-"[lines[i].kind]);
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
                 "nnnfmmmhn-+nn");
    assert_kinds(HEAD "@@ -1 +1 @@\n-a\n+b\n" HEAD "@@ -0,0 +1 @@\n+b", "fmmmh-+fmmmh+");
    assert_kinds("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "fmmm");
    assert_kinds("diff --git a/b b/b\nnew file mode 100644\nindex 0..1\nBinary files differ\n",
                 "fmmm");
}

static void a_hunk_ends_with_a_line_that_is_none_of_it(void **state)
{
    (void)state;
    assert_kinds(HEAD "@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n@@ x\n", "fmmmh-+n");
    assert_kinds(HEAD "@@ -1,2 +1,2 @@\n one\n\n+after\n", "fmmmhnnn");
    assert_kinds(HEAD "@@ -1,9 +1,9 @@\n one\n\u2026 7 more lines\n-x\n", "fmmmhnnn");
    assert_kinds("diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n +b\n"
                 "- c\n++d\nnote\n",
                 "fmmmhn+-+n");
}

static void other_text_is_no_diff(void **state)
{
    (void)state;
    assert_kinds("", "");
    assert_kinds("\n\n", "nn");
    assert_kinds("+a\n-b\n--- a/x\n+++ b/x\nindex 1..2\n", "nnnnn");
    assert_kinds("@@\n@ -1 +1 @\n@@ +1 @@\n @@ -1 +1 @@\n", "nnnn");
}

static void every_byte_comes_once(void **state)
{
    static const size_t lengths[] = { 0, AL_REVIEW_LINE_MAX - 1, AL_REVIEW_LINE_MAX,
                                      AL_REVIEW_LINE_MAX + 1, 3 * AL_REVIEW_LINE_MAX + 2 };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(lengths); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT, back = AL_STR_INIT;
        al_auto(al_freep) struct al_review_line *lines = NULL;
        size_t count;

        for (size_t k = 0; k < lengths[i]; k++)
            al_str_addc(&text, 'x');
        al_str_adds(&text, "\nend");
        count = al_review_cut(text.buf, text.len, &lines);
        for (size_t k = 0; k < count; k++) {
            assert_true(lines[k].len <= AL_REVIEW_LINE_MAX);
            if (!lines[k].continues && k)
                al_str_addc(&back, '\n');
            al_str_add(&back, lines[k].text, lines[k].len);
        }
        assert_string_equal(back.buf, text.buf);
    }
}

static void a_piece_ends_between_characters(void **state)
{
    (void)state;
    for (size_t before = 0; before < 4; before++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_freep) struct al_review_line *lines = NULL;
        size_t count;

        for (size_t i = 0; i < before; i++)
            al_str_addc(&text, 'x');
        while (text.len < 3 * AL_REVIEW_LINE_MAX)
            al_str_adds(&text, "\U0001F600");
        count = al_review_cut(text.buf, text.len, &lines);
        for (size_t i = 0; i < count; i++)
            assert_true(al_utf8_valid(lines[i].text, lines[i].len));
    }
}

/* Bytes that are no UTF-8 come too, and pieces are never empty. */
static void broken_text_is_cut_too(void **state)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) struct al_review_line *lines = NULL;
    size_t total = 0, count;

    (void)state;
    while (text.len < 2 * AL_REVIEW_LINE_MAX + 1)
        al_str_addc(&text, '\x80');
    count = al_review_cut(text.buf, text.len, &lines);
    for (size_t i = 0; i < count; i++) {
        assert_true(lines[i].len > 0);
        total += lines[i].len;
    }
    assert_int_equal(total, text.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diff_has_its_kinds),
        cmocka_unit_test(a_hunk_ends_with_a_line_that_is_none_of_it),
        cmocka_unit_test(other_text_is_no_diff),
        cmocka_unit_test(every_byte_comes_once),
        cmocka_unit_test(a_piece_ends_between_characters),
        cmocka_unit_test(broken_text_is_cut_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
