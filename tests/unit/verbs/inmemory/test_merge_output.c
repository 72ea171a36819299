// SPDX-License-Identifier: Apache-2.0
/* verbs/inmemory/inmemory.c: what git merge-tree prints is read whole, and nothing else is. */
#include "tests/lib/assert.h"
#include "verbs/inmemory/inmemory.h"

#define TREE                "811310d1c605bebeb736f72c712eb13a7962a01b"
#define BLOB                "de980441c3ab03a8c07dda1ad27b8a11f39deb1e"

#define PARSE(text, merged) al_merge_output_parse((text), sizeof(text) - 1, false, (merged))

static void reads_a_clean_merge(void **state)
{
    struct al_merged merged;

    (void)state;
    assert_true(PARSE(TREE "\0", &merged));
    assert_string_equal(merged.tree, TREE);
    assert_int_equal(merged.files.count, 0);
    al_merged_clear(&merged);
}

static void reads_the_stages_of_a_path(void **state)
{
    struct al_merged merged;

    (void)state;
    assert_true(PARSE(TREE "\0"
                           "100644 " BLOB " 1\ta\0"
                           "100644 " BLOB " 3\ta\0"
                           "100644 " BLOB " 2\tb\0"
                           "120000 " BLOB " 3\tb\0"
                           "160000 " BLOB " 2\tc\0"
                           "160000 " BLOB " 3\tc\0"
                           "100644 " BLOB " 1\td\0"
                           "100644 " BLOB " 2\te\0"
                           "100644 " BLOB " 2\tf\0"
                           "100755 " BLOB " 3\tf\0",
                      &merged));
    assert_int_equal(merged.files.count, 6);
    assert_string_equal(merged.files.items[0].path, "a");
    assert_null(merged.files.items[0].sides[AL_STAGE_OURS].oid);
    assert_null(merged.files.items[1].sides[AL_STAGE_BASE].oid);
    assert_int_equal(merged.files.items[1].sides[AL_STAGE_THEIRS].mode, 0120000);
    assert_string_equal(merged.files.items[1].sides[AL_STAGE_THEIRS].oid, BLOB);
    assert_string_equal(al_merge_conflict_kind(&merged.files.items[0]), "modify/delete");
    assert_string_equal(al_merge_conflict_kind(&merged.files.items[1]), "distinct types");
    assert_string_equal(al_merge_conflict_kind(&merged.files.items[2]), "submodule");
    assert_string_equal(al_merge_conflict_kind(&merged.files.items[3]), "rename/rename");
    assert_string_equal(al_merge_conflict_kind(&merged.files.items[4]),
                        "renamed, or in the place of a directory");
    assert_string_equal(al_merge_conflict_kind(&merged.files.items[5]), "contents");
    al_merged_clear(&merged);
}

#define ENTRY(text) TREE "\0" text "\0"

static void refuses_everything_else(void **state)
{
    struct al_merged merged;

    (void)state;
    assert_false(PARSE("", &merged));
    assert_false(PARSE(TREE, &merged));
    assert_false(PARSE("811310\0", &merged));
    assert_false(PARSE(TREE "0\0", &merged));
    assert_false(PARSE(ENTRY(""), &merged));
    assert_false(PARSE(ENTRY("100644 " BLOB " 0\tf"), &merged));
    assert_false(PARSE(ENTRY("100644 " BLOB " 4\tf"), &merged));
    assert_false(PARSE(ENTRY("100644 " BLOB " 1\t"), &merged));
    assert_false(PARSE(ENTRY("10064 " BLOB " 1\tf"), &merged));
    assert_false(PARSE(ENTRY("100644 " BLOB "0 1\tf"), &merged));
    assert_false(PARSE(TREE "\0"
                            "100644 " BLOB " 1\tf",
                       &merged));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_clean_merge),
        cmocka_unit_test(reads_the_stages_of_a_path),
        cmocka_unit_test(refuses_everything_else),
    };

    return cmocka_run_group_tests_name("gitops/inmemory/merge_output", tests, NULL, NULL);
}
