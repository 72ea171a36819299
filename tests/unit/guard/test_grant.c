// SPDX-License-Identifier: Apache-2.0
/* guard/grant.h: a grant restricts, and anything not listed is refused. */
#include "guard/grant.h"

#include <unistd.h>

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static void no_grant_is_everything(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    const struct al_grant *whole = al_grants_add(&grants, "whole");
    const struct al_grant *const open[] = { NULL, whole };

    (void)state;
    for (size_t i = 0; i < COUNT(open); i++) {
        assert_true(al_grant_has_tool(open[i], "git_commit"));
        assert_int_equal(al_grant_check_tool(open[i], "git_commit", NULL), 0);
        assert_int_equal(al_grant_check_dir(open[i], "/anywhere", true, NULL), 0);
    }
}

static void tools_are_globs_and_the_rest_is_not_granted(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    struct al_grant *grant = al_grants_add(&grants, "reviewer");
    static const char *const has[] = { "Git", "git_log", "git_show", "git_shortlog" };
    static const char *const lacks[] = { "git_logs", "git", "GIT", "git_commit", "", "mgit_log" };

    (void)state;
    grant->limits_tools = true;
    al_strv_adds(&grant->tools, "Git", "git_log", "git_sh*", NULL);
    for (size_t i = 0; i < COUNT(has); i++)
        assert_int_equal(al_grant_check_tool(grant, has[i], NULL), 0);
    for (size_t i = 0; i < COUNT(lacks); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_false(al_grant_has_tool(grant, lacks[i]));
        assert_int_equal(al_grant_check_tool(grant, lacks[i], &err), AL_ERR_NOT_GRANTED);
        assert_non_null(strstr(err.message, "'reviewer'"));
    }
}

static void an_empty_list_grants_nothing(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    struct al_grant *grant = al_grants_add(&grants, "none");

    (void)state;
    grant->limits_tools = grant->limits_dirs = true;
    assert_false(al_grant_has_tool(grant, "git_log"));
    assert_int_equal(al_grant_check_dir(grant, "/", false, NULL), AL_ERR_NOT_GRANTED);
}

static struct al_grant *with_dirs(struct al_grants *grants)
{
    struct al_grant *grant = al_grants_add(grants, "g");

    grant->limits_dirs = true;
    assert_int_equal(al_grant_add_dir(grant, "/nowhere/app", "r", NULL), 0);
    assert_int_equal(al_grant_add_dir(grant, "/nowhere/app/sub/", "rw", NULL), 0);
    assert_int_equal(al_grant_add_dir(grant, "/nowhere/app/sub/fixed", "r", NULL), 0);
    return grant;
}

static void the_nearest_listed_directory_decides(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    const struct al_grant *grant = with_dirs(&grants);
    static const struct {
        const char *dir;
        bool reads, writes;
    } cases[] = {
        { "/nowhere/app", true, false },
        { "/nowhere/app/other", true, false },
        { "/nowhere/app/subway", true, false },
        { "/nowhere/app/sub", true, true },
        { "/nowhere/app/sub/deep/er", true, true },
        { "/nowhere/app/sub/fixed", true, false },
        { "/nowhere/app/sub/fixed/x", true, false },
        { "/nowhere/application", false, false },
        { "/nowhere", false, false },
        { "/", false, false },
        { "/elsewhere/app", false, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i].dir);
        assert_int_equal(al_grant_check_dir(grant, cases[i].dir, false, NULL),
                         cases[i].reads ? 0 : AL_ERR_NOT_GRANTED);
        assert_int_equal(al_grant_check_dir(grant, cases[i].dir, true, NULL),
                         cases[i].writes ? 0 : AL_ERR_NOT_GRANTED);
    }
}

static void says_which_grant_it_was_and_names_no_directory(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    const struct al_grant *grant = with_dirs(&grants);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    (void)al_grant_check_dir(grant, "/elsewhere", false, &err);
    assert_string_equal(err.message,
                        "The grant 'g' does not cover this repository. Nothing was done");
    assert_non_null(strstr(err.remedy, "a user can add this one"));
    (void)al_grant_check_dir(grant, "/nowhere/app", true, &err);
    assert_string_equal(err.message,
                        "The grant 'g' only allows reading in this repository. Nothing was done");
    assert_non_null(strstr(err.remedy, "\"rw\""));
}

static void tells_whether_anything_of_a_directory_is_reached(void **state)
{
    static const struct {
        const char *dir;
        bool reached;
    } cases[] = { { "/a", true },   { "/a/b", true },   { "/a/b/c", true }, { "/a/bc", false },
                  { "/ab", false }, { "/", true },      { "/c", true },     { "/c/d", true },
                  { "/e", false },  { "/a/b/n", true }, { "/c/d/e", true } };
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    struct al_grant *grant = al_grants_add(&grants, "g");
    struct al_grant everything = { .name = NULL };

    (void)state;
    grant->limits_dirs = true;
    assert_int_equal(al_grant_add_dir(grant, "/a/b", "r", NULL), 0);
    assert_int_equal(al_grant_add_dir(grant, "/c/d/e", "rw", NULL), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i].dir);
        assert_int_equal(al_grant_reaches(grant, cases[i].dir), cases[i].reached);
        assert_true(al_grant_reaches(NULL, cases[i].dir));
        assert_true(al_grant_reaches(&everything, cases[i].dir));
    }
    everything.also = grant;
    assert_false(al_grant_reaches(&everything, "/e"));
}

static void the_root_directory_covers_all(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    struct al_grant *grant = al_grants_add(&grants, "g");
    struct al_grant *chosen;

    (void)state;
    grant->limits_dirs = true;
    assert_int_equal(al_grant_add_dir(grant, "/", "r", NULL), 0);
    assert_int_equal(al_grants_choose(&grants, "g", &chosen, NULL), 0);
    assert_int_equal(al_grant_check_dir(chosen, "/any/where", false, NULL), 0);
    assert_int_equal(al_grant_check_dir(chosen, "/any/where", true, NULL), AL_ERR_NOT_GRANTED);
}

static void takes_absolute_plain_paths_only(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    struct al_grant *grant = al_grants_add(&grants, "g");
    static const char *const bad[][2] = {
        { "app", "r" },  { "~/app", "r" }, { "", "r" },      { "/a/../b", "r" }, { "/a/..", "r" },
        { "/./a", "r" }, { "/a/.", "r" },  { "/a//b", "r" }, { "//", "r" },      { "/a", "w" },
        { "/a", "R" },   { "/a", "wr" },   { "/a", "" },     { "/a", "rw " },
    };
    static const char *const good[][2] = {
        { "/a", "r" },
        { "/b/", "rw" },
        { "/..a/b..", "r" },
        { "/.git", "r" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        print_message("# '%s' '%s'\n", bad[i][0], bad[i][1]);
        assert_int_equal(al_grant_add_dir(grant, bad[i][0], bad[i][1], NULL), AL_ERR_BAD_ARGS);
    }
    assert_int_equal(grant->ndirs, 0);
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(al_grant_add_dir(grant, good[i][0], good[i][1], NULL), 0);
    assert_int_equal(al_grant_add_dir(grant, "/b", "r", NULL), AL_ERR_BAD_ARGS);
    assert_int_equal(al_grant_add_dir(grant, "/a/", "r", NULL), AL_ERR_BAD_ARGS);
    assert_int_equal(grant->ndirs, COUNT(good));
}

static void chooses_by_name_and_lists_the_others(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_grant *chosen = NULL;

    (void)state;
    assert_int_equal(al_grants_choose(&grants, "x", &chosen, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "unknown grant 'x'; the configuration has no [grants.NAME]");
    (void)al_grants_add(&grants, "one");
    (void)al_grants_add(&grants, "two");
    assert_int_equal(al_grants_choose(&grants, "x", &chosen, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "unknown grant 'x' (configured: one, two)");
    assert_null(chosen);
    assert_int_equal(al_grants_choose(&grants, "two", &chosen, &err), 0);
    assert_string_equal(chosen->name, "two");
}

/* A link that an agent could change later must not move the grant with it. */
static void links_are_followed_once_when_it_is_chosen(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    struct al_grant *grant = al_grants_add(&grants, "g");
    al_auto(al_freep) char *link = tmpdir_path(dir, "link");
    al_auto(al_freep) char *first = tmpdir_path(dir, "first");
    al_auto(al_freep) char *second = tmpdir_path(dir, "second");
    struct al_grant *chosen;

    (void)state;
    tmpdir_mkdir(dir, "first");
    tmpdir_mkdir(dir, "second");
    tmpdir_symlink(dir, "first", "link");
    grant->limits_dirs = true;
    assert_int_equal(al_grant_add_dir(grant, link, "rw", NULL), 0);
    assert_int_equal(al_grant_add_dir(grant, first, "r", NULL),
                     0); /* the same directory by another name */
    assert_int_equal(al_grants_choose(&grants, "g", &chosen, NULL), 0);
    assert_int_equal(al_grant_check_dir(chosen, first, false, NULL), 0);
    assert_int_equal(al_grant_check_dir(chosen, first, true, NULL), AL_ERR_NOT_GRANTED);
    assert_int_equal(unlinkat(dir->fd, "link", 0), 0);
    tmpdir_symlink(dir, "second", "link");
    assert_int_equal(al_grant_check_dir(chosen, second, false, NULL), AL_ERR_NOT_GRANTED);
    assert_int_equal(al_grant_check_dir(chosen, first, false, NULL), 0);
    tmpdir_free(dir);
}

static void both_of_two_grants_have_to_cover_a_call(void **state)
{
    al_auto(al_grants_clear) struct al_grants wide = AL_GRANTS_INIT, narrow = AL_GRANTS_INIT;
    struct al_grant *first = with_dirs(&wide), *second = al_grants_add(&narrow, "narrow");
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    first->limits_tools = second->limits_tools = true;
    al_strv_add(&first->tools, "git_*");
    al_strv_add(&second->tools, "*_log");
    assert_int_equal(al_grant_add_dir(second, "/nowhere/app/sub/deep", "r", NULL), 0);
    second->limits_dirs = true;
    second->also = first;
    assert_true(al_grant_has_tool(second, "git_log"));
    assert_false(al_grant_has_tool(second, "git_add"));
    assert_false(al_grant_has_tool(second, "hg_log"));
    assert_int_equal(al_grant_check_tool(second, "git_log", NULL), 0);
    assert_int_equal(al_grant_check_tool(second, "git_add", &err), AL_ERR_NOT_GRANTED);
    assert_non_null(strstr(err.message, "'narrow'"));
    assert_int_equal(al_grant_check_tool(second, "hg_log", &err), AL_ERR_NOT_GRANTED);
    assert_null(strstr(err.message, "'narrow'"));
    assert_int_equal(al_grant_check_dir(second, "/nowhere/app/sub/deep", false, NULL), 0);
    assert_int_equal(al_grant_check_dir(second, "/nowhere/app/sub/deep", true, NULL),
                     AL_ERR_NOT_GRANTED);
    assert_int_equal(al_grant_check_dir(second, "/nowhere/app/sub", false, NULL),
                     AL_ERR_NOT_GRANTED);
    assert_int_equal(al_grant_check_dir(first, "/nowhere/app/sub", false, NULL), 0);
    second->limits_dirs = false;
    assert_int_equal(al_grant_check_dir(second, "/elsewhere", false, NULL), AL_ERR_NOT_GRANTED);
}

static void a_tree_has_to_be_covered_as_a_whole(void **state)
{
    al_auto(al_grants_clear) struct al_grants grants = AL_GRANTS_INIT;
    struct al_grant *grant = al_grants_add(&grants, "g");
    static const struct {
        const char *dir;
        bool writes;
        int expected;
    } cases[] = {
        { "/nowhere/app", false, 0 },      { "/nowhere/app", true, AL_ERR_NOT_GRANTED },
        { "/nowhere/app/kept", false, 0 }, { "/nowhere/app/kept", true, AL_ERR_NOT_GRANTED },
        { "/nowhere/app/other", true, 0 }, { "/nowhere", false, AL_ERR_NOT_GRANTED },
    };

    (void)state;
    grant->limits_dirs = true;
    assert_int_equal(al_grant_add_dir(grant, "/nowhere/app", "rw", NULL), 0);
    assert_int_equal(al_grant_add_dir(grant, "/nowhere/app/kept", "r", NULL), 0);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(al_grant_check_tree(grant, cases[i].dir, cases[i].writes, NULL),
                         cases[i].expected);
    assert_int_equal(al_grant_check_tree(NULL, "/nowhere/app", true, NULL), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_grant_is_everything),
        cmocka_unit_test(tools_are_globs_and_the_rest_is_not_granted),
        cmocka_unit_test(an_empty_list_grants_nothing),
        cmocka_unit_test(the_nearest_listed_directory_decides),
        cmocka_unit_test(says_which_grant_it_was_and_names_no_directory),
        cmocka_unit_test(the_root_directory_covers_all),
        cmocka_unit_test(takes_absolute_plain_paths_only),
        cmocka_unit_test(chooses_by_name_and_lists_the_others),
        cmocka_unit_test(links_are_followed_once_when_it_is_chosen),
        cmocka_unit_test(tells_whether_anything_of_a_directory_is_reached),
        cmocka_unit_test(both_of_two_grants_have_to_cover_a_call),
        cmocka_unit_test(a_tree_has_to_be_covered_as_a_whole),
    };

    return cmocka_run_group_tests_name("guard/grant", tests, NULL, NULL);
}
