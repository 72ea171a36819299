// SPDX-License-Identifier: Apache-2.0
/* staging/sandbox/path.c: patterns of paths. */
#include "staging/sandbox/sandbox.h"

#include "base/str.h"
#include "tests/lib/assert.h"

struct match_case {
    const char *pattern, *path;
};

static void matches(void **state)
{
    static const struct match_case cases[] = {
        { "*", "a" },
        { "*", "deep/er/.hidden" },
        { "*.md", "a.md" },
        { "*.md", "docs/a.md" },
        { "a?c", "x/abc" },
        { "[ab]*", "x/bc" },
        { "**", "a" },
        { "**", "a/b/c" },
        { "docs/*", "docs/a" },
        { "docs/*.md", "docs/a.md" },
        { "docs/**", "docs/a" },
        { "docs/**", "docs/a/b/c" },
        { "**/*.md", "a.md" },
        { "**/*.md", "x/y/a.md" },
        { "docs/**/*.md", "docs/a.md" },
        { "docs/**/*.md", "docs/x/y/a.md" },
        { "**/x/**/y", "x/y" },
        { "**/x/**/y", "a/x/b/x/c/y" },
        { "a/**/b/**/c", "a/b/b/b/c" },
        { "\\*", "*" },
        { "*/.gitignore", "a/.gitignore" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!al_sandbox_match(cases[i].pattern, cases[i].path))
            fail_msg("%s does not match %s", cases[i].pattern, cases[i].path);
}

static void does_not_match(void **state)
{
    static const struct match_case cases[] = {
        { "", "a" },
        { "*.md", "a.mdx" },
        { "*.md", "a.md/b" },
        { "docs", "docs/a" },
        { "docs/*", "docs/a/b" },
        { "docs/*", "x/docs/a" },
        { "docs/**", "docs" },
        { "*/a", "a" },
        { "*/a", "x/y/a" },
        { "**/*.md", "a.txt" },
        { "docs/**/*.md", "other/a.md" },
        { "a/**/b", "a/c" },
        { "a/**/b", "a/b/c" },
        { "\\*", "a" },
        { "/a", "a" },
        { "a/", "a" },
        { "***/a", "x/y/a" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (al_sandbox_match(cases[i].pattern, cases[i].path))
            fail_msg("%s matches %s", cases[i].pattern, cases[i].path);
}

/* Patterns that a matcher which tries everything never ends with. */
static void ends_in_time(void **state)
{
    al_auto(al_str_clear) struct al_str pattern = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str stars = AL_STR_INIT;

    (void)state;
    for (int i = 0; i < 200; i++)
        al_str_adds(&pattern, "**/a/");
    al_str_adds(&pattern, "b");
    for (int i = 0; i < 1000; i++)
        al_str_adds(&path, "a/");
    al_str_addc(&path, 'c');
    assert_false(al_sandbox_match(pattern.buf, path.buf));
    for (int i = 0; i < 100; i++)
        al_str_adds(&stars, "*a");
    al_str_adds(&stars, "b");
    assert_false(al_sandbox_match(stars.buf,
                                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches),
        cmocka_unit_test(does_not_match),
        cmocka_unit_test(ends_in_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
