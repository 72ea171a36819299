// SPDX-License-Identifier: Apache-2.0
/* gitops/inmemory/merge_output.c: what git merge-tree prints is read whole, and nothing else is. */
#include "gitops/inmemory/merge_output.h"
#include "tests/lib/assert.h"

#define TREE                "811310d1c605bebeb736f72c712eb13a7962a01b"
#define BLOB                "de980441c3ab03a8c07dda1ad27b8a11f39deb1e"

#define PARSE(text, merged) al_merge_output_parse((text), sizeof(text) - 1, false, (merged))

static void reads_a_clean_merge(void **state)
{
    struct al_merged merged;

    (void)state;
    assert_true(PARSE(TREE "\0\0", &merged));
    assert_string_equal(merged.tree, TREE);
    assert_int_equal(merged.count, 0);
    al_merged_clear(&merged);
    assert_true(PARSE(TREE "\0", &merged)); /* without messages */
    al_merged_clear(&merged);
    assert_true(PARSE(TREE "\0\0"
                           "1\0f\0Auto-merging\0Auto-merging f\n\0",
                      &merged));
    assert_int_equal(merged.count, 0);
    assert_string_equal(merged.messages.buf, "Auto-merging f\n");
    al_merged_clear(&merged);
}

static void reads_every_kind_of_a_path(void **state)
{
    struct al_merged merged;

    (void)state;
    assert_true(PARSE(TREE "\0"
                           "100644 " BLOB " 2\tb\0"
                           "120000 " BLOB " 3\tb\0"
                           "\0"
                           "2\0b\0a\0CONFLICT (rename/delete)\0one\n\0"
                           "1\0b\0CONFLICT (distinct modes)\0two\0"
                           "1\0b\0CONFLICT (rename/delete)\0three\n\0"
                           "0\0CONFLICT\0four\n\0",
                      &merged));
    assert_int_equal(merged.count, 2);
    assert_string_equal(merged.conflicts[0].path, "a"); /* only a message names it */
    assert_string_equal(merged.conflicts[0].sides[AL_SIDE_OURS].mode, "");
    assert_string_equal(merged.conflicts[1].kind, "rename/delete, distinct modes");
    assert_string_equal(merged.conflicts[1].sides[AL_SIDE_BASE].mode, "");
    assert_string_equal(merged.conflicts[1].sides[AL_SIDE_THEIRS].mode, "120000");
    assert_string_equal(merged.conflicts[1].sides[AL_SIDE_THEIRS].oid, BLOB);
    assert_string_equal(merged.messages.buf, "one\ntwo\nthree\nfour\n");
    al_merged_clear(&merged);
}

static void refuses_everything_else(void **state)
{
    struct al_merged merged;

    (void)state;
    assert_false(PARSE("", &merged));
    assert_false(PARSE(TREE, &merged));
    assert_false(PARSE("811310\0\0", &merged));
    assert_false(PARSE(TREE "0\0\0", &merged));
    assert_false(PARSE(TREE "\0"
                            "100644 " BLOB " 0\tf\0\0",
                       &merged));
    assert_false(PARSE(TREE "\0"
                            "100644 " BLOB " 4\tf\0\0",
                       &merged));
    assert_false(PARSE(TREE "\0"
                            "100644 " BLOB " 1\t\0\0",
                       &merged));
    assert_false(PARSE(TREE "\0"
                            "10064 " BLOB " 1\tf\0\0",
                       &merged));
    assert_false(PARSE(TREE "\0"
                            "100644 " BLOB "0 1\tf\0\0",
                       &merged));
    assert_false(PARSE(TREE "\0\0"
                            "2\0f\0CONFLICT (contents)\0text\0",
                       &merged));
    assert_false(PARSE(TREE "\0\0"
                            "9999999\0f\0type\0text\0",
                       &merged));
    assert_false(PARSE(TREE "\0\0"
                            "-1\0f\0type\0text\0",
                       &merged));
    assert_false(PARSE(TREE "\0\0"
                            "1\0f\0type\0text",
                       &merged));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_clean_merge),
        cmocka_unit_test(reads_every_kind_of_a_path),
        cmocka_unit_test(refuses_everything_else),
    };

    return cmocka_run_group_tests_name("gitops/inmemory/merge_output", tests, NULL, NULL);
}
