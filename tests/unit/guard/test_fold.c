// SPDX-License-Identifier: Apache-2.0
/* guard/fold.h: names that some file system takes for one. */
#include "guard/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/assert.h"

static void folds_paths(void **state)
{
    static const struct {
        const char *path, *folded;
    } cases[] = {
        { "", "" },
        { "a", "a" },
        { "A/b/Zz@[", "a/b/zz@[" },
        { "/", "/" },
        { "a/", "a/" },
        { "A//B/", "a//b/" },
        { "ref\u017f", "refs" },
        { "\u212aey", "key" },
        { "stra\u00dfe", "strasse" },
        { "\ufb01x/\ufb06", "fix/st" },
        { "H\u200dE\ufeffAD", "head" },
        { "a\u00ad/\u00ad/b", "a//b" },
        { "\u00e9", "\x80" },
        { "\u00c9t\u00c9/Ab", "\x80/ab" },
        { "e\u0301", "\x80" },
        { "x/\xff", "x/\x80" },
        { "x\xc3", "\x80" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *folded = al_fold_path(cases[i].path, strlen(cases[i].path));

        assert_string_equal(folded, cases[i].folded);
    }
}

static void folds_a_beginning(void **state)
{
    al_auto(al_freep) char *folded = al_fold_path("Dir/File", 4);
    al_auto(al_freep) char *nothing = al_fold_path("Dir/File", 0);

    (void)state;
    assert_string_equal(folded, "dir/");
    assert_string_equal(nothing, "");
}

static void knows_a_name(void **state)
{
    static const char *const same[] = { "refs", "REFS", "rEf\u017f", "re\u200cfs", "\ufeffrefs" };
    static const char *const others[] = { "",          "ref",  "refss", "refs\u00e9",
                                          "r\u00e9fs", "\xff", "refs " };

    (void)state;
    for (size_t i = 0; i < COUNT(same); i++)
        assert_true(al_fold_is(same[i], strlen(same[i]), "refs"));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(al_fold_is(others[i], strlen(others[i]), "refs"));
    assert_true(al_fold_is("refs/a", 4, "refs"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_paths),
        cmocka_unit_test(folds_a_beginning),
        cmocka_unit_test(knows_a_name),
    };

    return cmocka_run_group_tests_name("guard/fold", tests, NULL, NULL);
}
