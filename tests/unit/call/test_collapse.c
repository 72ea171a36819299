// SPDX-License-Identifier: Apache-2.0
/* call/collapse.c: every file is counted once, in few lines. */
#include "call/answer.h"

#include "tests/lib/assert.h"

/* The lines of a list, and how many files they stand for. */
struct lines {
    struct al_str text;
    size_t lines, files, next; /* `next`: the index that has to come */
};

static void take_line(void *payload, const char *path, size_t count, size_t index)
{
    struct lines *lines = payload;

    assert_int_equal(index, lines->next);
    lines->next += count;
    lines->lines++;
    lines->files += count;
    al_str_addf(&lines->text, "%s:%zu ", path, count);
}

static void check(const struct al_strv *paths, size_t max_lines, const char *expected)
{
    struct lines lines = { .text = AL_STR_INIT };

    al_collapse(paths, max_lines, take_line, &lines);
    assert_int_equal(lines.files, paths->count);
    assert_true(lines.lines <= max_lines || lines.lines == paths->count);
    if (expected)
        assert_string_equal(lines.text.buf, expected);
    al_str_clear(&lines.text);
}

static void a_short_list_is_whole(void **state)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    (void)state;
    check(&paths, 3, "");
    al_strv_adds(&paths, "a/x", "a/y", "b", NULL);
    check(&paths, 3, "a/x:1 a/y:1 b:1 ");
    check(&paths, 2, "a/:2 b:1 ");
}

static void a_repository_inside_is_a_file(void **state)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    (void)state;
    al_strv_adds(&paths, "nested/", "other/a", "other/b", NULL);
    check(&paths, 2, "nested/:1 other/:2 ");
}

static void more_names_than_lines_are_counted(void **state)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    (void)state;
    for (int i = 0; i < 10; i++)
        al_strv_addf(&paths, "f%d", i);
    check(&paths, 4, "f0:1 f1:1 f2:1 :7 ");
}

static void every_file_is_counted_once(void **state)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    (void)state;
    for (int i = 0; i < 1000; i++)
        al_strv_addf(&paths, "d%d/e%d/f%d", i % 7, i % 13, i);
    al_strv_sort(&paths);
    for (size_t max_lines = 1; max_lines < 200; max_lines++)
        check(&paths, max_lines, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_list_is_whole),
        cmocka_unit_test(a_repository_inside_is_a_file),
        cmocka_unit_test(more_names_than_lines_are_counted),
        cmocka_unit_test(every_file_is_counted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
