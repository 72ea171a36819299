// SPDX-License-Identifier: Apache-2.0
/* guard/glob.h: patterns matched against names and against a tree. */
#include "guard/glob.h"

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static void matches_names(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        { "*", "a", true },
        { "*", ".a", false },
        { ".*", ".a", true },
        { ".*", ".", false },
        { ".*", "..", false },
        { "\\.*", ".a", true },
        { "[.]a", ".a", false },
        { "?a", ".a", false },
        { "a*c", "abc", true },
        { "a*c", "ac", true },
        { "a*c", "abcd", false },
        { "a*b*c", "axbxbxc", true },
        { "a*b*c", "axbxbx", false },
        { "**", "a", true },
        { "*a", "aaa", true },
        { "?", "a", true },
        { "?", "", false },
        { "?", "ab", false },
        { "?", "\xc3\xa4", true },
        { "??", "\xc3\xa4", false },
        { "?", "\xff", true },
        { "[ab]", "a", true },
        { "[ab]", "c", false },
        { "[!ab]", "c", true },
        { "[^ab]", "a", false },
        { "[a-c]", "b", true },
        { "[a-c]", "-", false },
        { "[a-]", "-", true },
        { "[]a]", "]", true },
        { "[!]a]", "]", false },
        { "[[:digit:]]", "5", true },
        { "[[:digit:]]", "x", false },
        { "[![:digit:]]", "x", true },
        { "[[:alpha:]]", "\xc3\xa4", true },
        { "[\xc3\xa0-\xc3\xbc]", "\xc3\xa4", true },
        { "[", "[", true },
        { "[a", "[a", true },
        { "a[", "a[", true },
        { "\\*", "*", true },
        { "\\*", "a", false },
        { "\\[a]", "[a]", true },
        { "[\\]]", "]", true },
        { "[a\\-c]", "b", false },
        { "a\\", "a\\", true },
        { "", "", true },
        { "", "a", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# '%s' '%s'\n", cases[i].pattern, cases[i].name);
        assert_int_equal(al_glob_match(cases[i].pattern, cases[i].name), cases[i].matches);
    }
}

/* The time for several stars grows with the product of the lengths, not exponentially. */
static void ends_soon(void **state)
{
    char name[256];

    (void)state;
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_false(al_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

/* An unfinished class is examined once, not up to the end of the pattern. */
static void a_bracket_in_a_bracket_is_no_search(void **state)
{
    al_auto(al_str_clear) struct al_str pattern = AL_STR_INIT;
    char name[256];

    (void)state;
    memset(name, 'b', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    al_str_adds(&pattern, "*[");
    while (pattern.len < AL_GLOB_PATTERN_MAX - 2)
        al_str_adds(&pattern, "[:");
    assert_false(al_glob_match(pattern.buf, name));
    al_str_adds(&pattern, "b]");
    assert_true(al_glob_match(pattern.buf, name));
}

static void takes_classes_by_their_names(void **state)
{
    static const char *const none[] = { "[[:]", "[[::]", "[[:digit]", "[[:digitdigitdigitd:]]",
                                        "[[:nosuch:]]" };

    (void)state;
    for (size_t i = 0; i < COUNT(none); i++)
        assert_false(al_glob_match(none[i], "5"));
    assert_true(al_glob_match("[[:xdigit:]]", "f"));
    assert_true(al_glob_match("[[:nosuch:]5]", "5"));
}

static char *expand(const struct tmpdir *dir, const char *pattern)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct al_glob_cost cost = AL_GLOB_COST_INIT;
    struct al_str out = AL_STR_INIT;

    assert_int_equal(al_glob_expand(dir->fd, pattern, &cost, &names, NULL), 0);
    for (size_t i = 0; i < names.count; i++)
        al_str_addf(&out, "%s%s", i ? " " : "", names.items[i]);
    return al_str_detach(&out);
}

static void expands_in_a_tree(void **state)
{
    static const char *const cases[][2] = {
        { "*", "a.c b.c d" },       { "*.c", "a.c b.c" },
        { "*/*", "d/e.c d/f" },     { "*/", "d/" },
        { "d/*.c", "d/e.c" },       { "d//*.c", "d//e.c" },
        { "./*.c", "./a.c ./b.c" }, { "*/f/*", "d/f/g.c" },
        { "[a-b].c", "a.c b.c" },   { "x*", "" },
        { "*/e.c", "d/e.c" },       { "*/none", "" },
        { ".*", ".git .h" },        { ".git/*", ".git/c" },
        { "*/f/", "d/f/" },         { "d/f*", "d/f" },
        { "nosuch/*", "" },         { "a.c/*", "" },
        { "\\a*", "a.c" },          { "*//f//*", "d/f/g.c" },
        { "d//f//*", "d//f//g.c" }, { "*//", "d/" },
    };
    struct tmpdir *dir = tmpdir_new();

    (void)state;
    tmpdir_write(dir, "a.c", "");
    tmpdir_write(dir, "b.c", "");
    tmpdir_write(dir, ".h", "");
    tmpdir_write(dir, ".git/c", "");
    tmpdir_write(dir, "d/e.c", "");
    tmpdir_write(dir, "d/f/g.c", "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *got = expand(dir, cases[i][0]);

        print_message("# %s\n", cases[i][0]);
        assert_string_equal(got, cases[i][1]);
    }
    tmpdir_free(dir);
}

static void stays_inside(void **state)
{
    static const char *const leaving[] = { "/*", "../*", "d/../*", "\\../*", "*/..", "/etc/*" };
    struct tmpdir *dir = tmpdir_new(), *outside = tmpdir_new();
    al_auto(al_freep) char *got = NULL;
    al_auto(al_freep) char *inner = NULL;

    (void)state;
    tmpdir_write(outside, "secret", "");
    tmpdir_write(dir, "d/f", "");
    tmpdir_symlink(dir, outside->path, "out");
    tmpdir_symlink(dir, "d", "in");
    for (size_t i = 0; i < COUNT(leaving); i++) {
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
        struct al_glob_cost cost = AL_GLOB_COST_INIT;

        assert_int_equal(al_glob_expand(dir->fd, leaving[i], &cost, &names, NULL), AL_ERR_SANDBOX);
        assert_int_equal(names.count, 0);
    }
    got = expand(dir, "out/*");
    assert_string_equal(got, "");
    inner = expand(dir, "in/*");
    assert_string_equal(inner, "in/f");
    tmpdir_free(dir);
    tmpdir_free(outside);
}

static void counts_names(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    (void)state;
    for (size_t i = 0; i < AL_GLOB_NAMES_MAX - 1; i++) {
        al_auto(al_freep) char *name = al_asprintf("%zu", i);

        tmpdir_write(dir, name, "");
    }
    for (size_t more = 0; more < 3; more++) {
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
        struct al_glob_cost cost = AL_GLOB_COST_INIT;
        int r = al_glob_expand(dir->fd, "*", &cost, &names, NULL);

        assert_int_equal(r, more < 2 ? 0 : AL_ERR_BAD_ARGS);
        if (r == 0)
            assert_int_equal(names.count, AL_GLOB_NAMES_MAX - 1 + more);
        tmpdir_write(dir, more ? "y" : "x", "");
    }
    tmpdir_free(dir);
}

static int expand_long(const struct tmpdir *dir, struct al_str *pattern, struct al_strv *names)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_glob_cost cost = AL_GLOB_COST_INIT;
    int r = al_glob_expand(dir->fd, pattern->buf, &cost, names, &err);

    if (r < 0)
        assert_true(strlen(err.message) < 200);
    return r;
}

/* `literal` parts, followed by a pattern. */
static int expand_parts(const struct tmpdir *dir, const char *literal, size_t parts,
                        struct al_strv *names)
{
    al_auto(al_str_clear) struct al_str pattern = AL_STR_INIT;

    for (size_t i = 1; i < parts; i++)
        al_str_addf(&pattern, "%s/", literal);
    al_str_addc(&pattern, '*');
    return expand_long(dir, &pattern, names);
}

static void counts_parts(void **state)
{
    static const char *const parts[] = { "d", "?", ".", "d/" };
    struct tmpdir *dir = tmpdir_new();
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;

    (void)state;
    for (size_t i = 1; i < AL_GLOB_PARTS_MAX; i++)
        al_str_adds(&path, "d/");
    al_str_adds(&path, "f");
    tmpdir_write(dir, path.buf, "");
    for (size_t i = 0; i < COUNT(parts); i++) {
        for (size_t count = AL_GLOB_PARTS_MAX - 1; count <= AL_GLOB_PARTS_MAX + 1; count++) {
            al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

            assert_int_equal(expand_parts(dir, parts[i], count, &names),
                             count <= AL_GLOB_PARTS_MAX ? 0 : AL_ERR_BAD_ARGS);
            assert_int_equal(names.count, count <= AL_GLOB_PARTS_MAX);
        }
    }
    tmpdir_free(dir);
}

/* A thread of the server has 1.5 MiB of stack. */
static void goes_as_deep_as_ever(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    (void)state;
    assert_int_equal(expand_parts(dir, "a", 8000, &names), AL_ERR_BAD_ARGS);
    assert_int_equal(expand_parts(dir, "a*", 8000, &names), AL_ERR_BAD_ARGS);
    assert_int_equal(names.count, 0);
    tmpdir_free(dir);
}

static void counts_bytes(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    (void)state;
    for (size_t len = AL_GLOB_PATTERN_MAX - 1; len <= AL_GLOB_PATTERN_MAX + 1; len++) {
        al_auto(al_str_clear) struct al_str pattern = AL_STR_INIT;
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

        while (pattern.len < len)
            al_str_addc(&pattern, pattern.len % 200 ? '*' : 'a');
        assert_int_equal(expand_long(dir, &pattern, &names),
                         len <= AL_GLOB_PATTERN_MAX ? 0 : AL_ERR_BAD_ARGS);
    }
    tmpdir_free(dir);
}

/* All patterns of one command line share one limit. */
static void counts_what_all_patterns_cost(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct al_glob_cost one = AL_GLOB_COST_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    (void)state;
    tmpdir_write(dir, "file", "");
    assert_int_equal(al_glob_expand(dir->fd, "no*", &one, &names, NULL), 0);
    assert_true(one.entries && one.comparisons);
    for (size_t more = 0; more < 3; more++) {
        struct al_glob_cost cost = { AL_GLOB_ALL_ENTRIES_MAX - one.entries + more - 1, 0 };
        struct al_glob_cost work = { 0, AL_GLOB_COMPARISONS_MAX - one.comparisons + more - 1 };
        int wanted = more < 2 ? 0 : AL_ERR_BAD_ARGS;

        assert_int_equal(al_glob_expand(dir->fd, "no*", &cost, &names, NULL), wanted);
        assert_int_equal(al_glob_expand(dir->fd, "no*", &work, &names, NULL), wanted);
    }
    tmpdir_free(dir);
}

static void gives_the_text_itself(void **state)
{
    al_auto(al_freep) char *text = al_glob_literal("a\\*b\\\\c\\[*");

    (void)state;
    assert_string_equal(text, "a*b\\c[*");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_names),
        cmocka_unit_test(ends_soon),
        cmocka_unit_test(expands_in_a_tree),
        cmocka_unit_test(stays_inside),
        cmocka_unit_test(a_bracket_in_a_bracket_is_no_search),
        cmocka_unit_test(takes_classes_by_their_names),
        cmocka_unit_test(counts_parts),
        cmocka_unit_test(goes_as_deep_as_ever),
        cmocka_unit_test(counts_bytes),
        cmocka_unit_test(counts_what_all_patterns_cost),
        cmocka_unit_test(counts_names),
        cmocka_unit_test(gives_the_text_itself),
    };

    return cmocka_run_group_tests_name("guard/glob", tests, NULL, NULL);
}
