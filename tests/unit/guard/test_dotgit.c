// SPDX-License-Identifier: Apache-2.0
/* guard/root.h: `.git` is recognised under every name that a file system may take for it. */
#include "guard/gitdir.h"
#include "guard/root.h"

#include "tests/lib/assert.h"

static void dot_git_is_known_in_all_its_spellings(void **state)
{
    static const char *const guarded[] = {
        ".git",
        ".GIT",
        ".gIt",
        ".git/",
        "a/.git",
        "a/.git/b",
        "/x/.git",
        ".git.",
        ".git ",
        ".git. .",
        ".git:x",
        ".git::$INDEX_ALLOCATION/x",
        "git~1",
        ".airlock-aside-1",
        "a/.airlock-aside-12/0",
        ".Airlock-Aside-1",
        "GIT~1",
        "git~1 ",
        "git~1:x",
        "a\\.git",
        ".git\\x",
        ".g\xe2\x80\x8bit", /* where a file system folds case, as ext4 may */
        ".g\xe2\x80\x8cit",
        "\xe2\x80\x8e.git",
        ".git\xef\xbb\xbf",
        ".G\xe2\x81\xaaI\xe2\x80\xaeT/x",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(guarded); i++)
        if (!al_path_has_dot_git(guarded[i]))
            fail_msg("not seen: %s", guarded[i]);
}

static void names_that_only_resemble_it_are_ordinary(void **state)
{
    static const char *const ordinary[] = {
        "",
        ".",
        "..",
        "/",
        "git",
        ".gitignore",
        ".gitattributes",
        ".gitmodules",
        ".github/x",
        ".git-x",
        ".gitx",
        "x.git",
        "a/x.git/b",
        "git~2",
        "git~10",
        ".gi",
        ".airlock-asid",
        ".airlock",
        ".git.x",
        ".git x",
        ".git\xff",
        "..git",
        ". git",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(ordinary); i++)
        if (al_path_has_dot_git(ordinary[i]))
            fail_msg("mistaken: %s", ordinary[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_git_is_known_in_all_its_spellings),
        cmocka_unit_test(names_that_only_resemble_it_are_ordinary),
    };

    return cmocka_run_group_tests_name("guard/dotgit", tests, NULL, NULL);
}
