// SPDX-License-Identifier: Apache-2.0
/* The value of a reference, and the list of them that a checkpoint has. */
#include "git/refs.h"

#include <stdlib.h>

#include "history/checkpoint.h"
#include "tests/lib/assert.h"

#define ONE    "1111111111111111111111111111111111111111"
#define TWO    "2222222222222222222222222222222222222222"
#define SHA256 ONE "222222222222222222222222"

static void understands_the_line_of_a_reference(void **state)
{
    static const struct {
        const char *text;
        bool sha256;
        const char *value;
    } rows[] = {
        { ONE, false, ONE },
        { ONE "\n", false, ONE },
        { ONE "\r\n", false, ONE },
        { ONE " said\n", false, ONE },
        { SHA256 "\n", true, SHA256 },
        { "ref: refs/heads/main\n", false, "ref: refs/heads/main" },
        { "ref:refs/heads/main", false, "ref: refs/heads/main" },
        { "ref: \t refs/heads/main \n", false, "ref: refs/heads/main" },
        { "ref: refs/heads/main\n", true, "ref: refs/heads/main" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *value = al_ref_value(rows[i].text, rows[i].sha256);

        assert_non_null(value);
        assert_string_equal(value, rows[i].value);
    }
}

static void refuses_every_other_line(void **state)
{
    static const struct {
        const char *text;
        bool sha256;
    } rows[] = {
        { "", false },
        { "\n" ONE, false },
        { "main", false },
        { " " ONE, false },
        { "111111111111111111111111111111111111111", false },
        { ONE "1", false },
        { "g" TWO, false },
        { SHA256, false },
        { ONE, true },
        { "ref:", false },
        { "ref: refs/heads/a b", false },
        { "ref: refs/heads/a\x7f", false },
        { "ref: refs/heads/a\x01", false },
        { "REF: refs/heads/main", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *value = al_ref_value(rows[i].text, rows[i].sha256);

        if (value)
            print_message("# '%s' is '%s'\n", rows[i].text, value);
        assert_null(value);
    }
}

static void parses_what_git_lists(void **state)
{
    static const char text[] = ONE
        " refs/heads/main\nref: refs/heads/main refs/remotes/origin/HEAD\n" TWO " refs/tags/v1\n";
    static const char *const expected[][2] = {
        { "refs/heads/main", ONE },
        { "refs/remotes/origin/HEAD", "ref: refs/heads/main" },
        { "refs/tags/v1", TWO },
    };
    al_auto(al_differences_clear) struct al_differences refs = { .items = NULL };

    (void)state;
    assert_true(al_refs_parse("", 0, &refs));
    assert_int_equal(refs.count, 0);
    assert_true(al_refs_parse(text, strlen(text), &refs));
    assert_int_equal(refs.count, COUNT(expected));
    for (size_t i = 0; i < refs.count; i++) {
        assert_string_equal(refs.items[i].name, expected[i][0]);
        assert_string_equal(refs.items[i].to, expected[i][1]);
    }
}

static void parses_nothing_that_is_cut_or_has_no_name(void **state)
{
    static const char *const texts[] = { "\n",
                                         ONE "\n",
                                         ONE " refs/heads/main",
                                         ONE " refs/heads/main\n" TWO,
                                         " ",
                                         ONE " refs/heads/main\n\n" };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        al_auto(al_differences_clear) struct al_differences refs = { .items = NULL };

        assert_false(al_refs_parse(texts[i], strlen(texts[i]), &refs));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(understands_the_line_of_a_reference),
        cmocka_unit_test(refuses_every_other_line),
        cmocka_unit_test(parses_what_git_lists),
        cmocka_unit_test(parses_nothing_that_is_cut_or_has_no_name),
    };

    return cmocka_run_group_tests_name("checkpoint/refs", tests, NULL, NULL);
}
