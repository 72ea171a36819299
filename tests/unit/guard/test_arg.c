// SPDX-License-Identifier: Apache-2.0
/* guard/arg.h: no argument of an agent becomes an option, a range or pathspec magic for git. */
#include "guard/arg.h"

#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"

static struct tmpdir *home;

static int setup(void **state)
{
    home = tmpdir_new();
    git_fixture_environment(home);
    git_fixture_init(home);
    git_fixture_commit(home, "file", "text\n", "first");
    git_ok(home, "checkout", "-q", "-b", "other", NULL); /* gives git a meaning for @{-1} */
    *state = home;
    return 0;
}

static int teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

static const char *const branch_names[] = {
    "main",
    "a",
    "feature/x",
    "a/b/c/d",
    "v1.0",
    "a.b",
    "a-b",
    "a_b",
    "x-",
    "a/-b",
    "1",
    "#1",
    "a@b",
    "@a",
    "a@",
    "a{b",
    "a}b",
    "{",
    "HEADS",
    "head",
    "refs/heads/x",
    "refs",
    "lock",
    "a.locks",
    "alock",
    ".lock",
    "a.lock",
    "a.lock/b",
    "a/b.lock",
    ".lockx",
    "$x",
    "a;b",
    "a|b",
    "a&b",
    "a'b",
    "a\"b",
    "a<b",
    "a>b",
    "a(b)",
    "a!b",
    "a%b",
    "a+b",
    "a,b",
    "a=b",
    "grün",
    "分支",
    "😀",
    /* below: mostly no names */
    "",
    "-",
    "-a",
    "--all",
    "-D",
    "@",
    "HEAD",
    "a..b",
    "..",
    ".",
    ".a",
    "a.",
    "a/.b",
    "a./b",
    "a/..",
    "a b",
    " a",
    "a ",
    "a\tb",
    "a\nb",
    "a\x7f_",
    "a\x01",
    "a~1",
    "a^",
    "a^{}",
    "a:b",
    ":a",
    "a?",
    "*",
    "a*b",
    "[a",
    "a]",
    "a[0]",
    "a\\b",
    "/a",
    "a/",
    "a//b",
    "/",
    "@{u}",
    "a@{1}",
    "@{-1}",
    "a@{",
    "x/HEAD",
    "HEAD/x",
    "a/@",
    "a...b",
    "a/.lock",
    "\033[31m",
};

/* Names that git accepts here and airlock does not: as a revision, each means something other than
 * a branch of that name, and the first depends on where HEAD has been. */
static const char *const stricter[] = { "@{-1}", "@" };

static bool is_stricter(const char *name)
{
    for (size_t i = 0; i < COUNT(stricter); i++)
        if (!strcmp(name, stricter[i]))
            return true;
    return false;
}

static void branch_names_are_judged_as_git_judges_them(void **state)
{
    (void)state;
    assert_true(COUNT(branch_names) >= 60);
    for (size_t i = 0; i < COUNT(branch_names); i++) {
        const char *name = branch_names[i];
        bool git = git_status_of(home, "check-ref-format", "--branch", name, NULL) == 0;
        bool ours = al_arg_check_branch("name", name, NULL) == 0;

        if (is_stricter(name) ? ours || !git : ours != git)
            fail_msg("'%s': git says %d, airlock %d", name, git, ours);
    }
}

static void a_refused_branch_names_the_parameter_and_the_rule(void **state)
{
    static const struct {
        const char *value, *message;
    } cases[] = {
        { "", "new_name must not be empty" },
        { "-f", "new_name must not begin with '-'" },
        { "a\nb", "new_name must not contain control characters" },
        { "a b", "new_name must not contain a space or any of ~ ^ : ? * [ \\" },
        { "a..b", "new_name must not contain '..'" },
        { "@{u}", "new_name must not contain '@{'" },
        { "HEAD", "new_name must not be 'HEAD' or '@'" },
        { "a/", "new_name must not begin or end with '/' or contain '//'" },
        { "a/.b", "new_name must not have a part that begins with '.'" },
        { "a.lock/b", "new_name must not have a part that ends with '.lock'" },
        { "a.", "new_name must not end with '.'" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(al_arg_check_branch("new_name", cases[i].value, &err), AL_ERR_BAD_ARGS);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void revisions_of_every_single_form_are_taken(void **state)
{
    static const char *const good[] = {
        "HEAD",
        "main",
        "HEAD~3",
        "HEAD^2",
        "v1.0^{commit}",
        "@",
        "@{u}",
        "@{-1}",
        "main@{yesterday}",
        "HEAD@{2 days ago}",
        "HEAD:dir/file",
        ":/fix",
        ":1:file",
        "HEAD^{/some text}",
        "0123abc",
        "a.b",
        "stash@{0}",
        "refs/heads/x",
        "grün",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(al_arg_check_revision("commit", good[i], NULL), 0);
}

static void revisions_that_are_options_ranges_or_noise_are_refused(void **state)
{
    static const char *const bad[] = {
        "",         "-",           "-1",  "--all",     "--output=/tmp/x", "-p",   "A..B", "A...B",
        "..",       "..B",         "A..", "HEAD:a..b", "HEAD:../x",       "a\nb", "a\tb", "a\x7f",
        "\033[31m", "HEAD\n--all", "-\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(al_arg_check_revision("commit", bad[i], &err), AL_ERR_BAD_ARGS);
        assert_true(!strncmp(err.message, "commit must not ", 16));
    }
}

static void pathspecs_of_existing_files_are_literal(void **state)
{
    static const struct {
        const char *value, *spec;
    } cases[] = {
        { "a.c", "a.c" },
        { "dir/a.c", "dir/a.c" },
        { "-a", "-a" },
        { "*.txt", ":(literal)*.txt" },
        { "a?", ":(literal)a?" },
        { "[x]", ":(literal)[x]" },
        { "a\\b", ":(literal)a\\b" },
        { ":c.txt", ":(literal):c.txt" },
        { "a:b", "a:b" },
        { ":(top)x", ":(literal):(top)x" },
        { "a]b", "a]b" },
        { "a b\n", "a b\n" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *spec = NULL;

        assert_int_equal(al_arg_pathspec("paths", cases[i].value, true, &spec, NULL), 0);
        assert_string_equal(spec, cases[i].spec);
    }
}

static void other_pathspecs_may_be_globs_but_not_magic(void **state)
{
    static const char *const good[] = { "*.txt", "a?", "[a-z]x", "gone.c", "a:b", "-x", "a\\*" };
    static const char *const bad[] = { ":x", ":/", ":!a", ":^a", ":(exclude)a", ":", ":(glob)**" };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        al_auto(al_freep) char *spec = NULL;

        assert_int_equal(al_arg_pathspec("paths", good[i], false, &spec, NULL), 0);
        assert_string_equal(spec, good[i]);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        char *spec = NULL;

        assert_int_equal(al_arg_pathspec("paths", bad[i], false, &spec, &err), AL_ERR_BAD_ARGS);
        assert_null(spec);
        assert_string_equal(err.message, "paths must not begin with ':' (pathspec magic)");
    }
}

static void an_empty_pathspec_is_refused_either_way(void **state)
{
    char *spec = NULL;

    (void)state;
    assert_int_equal(al_arg_pathspec("paths", "", false, &spec, NULL), AL_ERR_BAD_ARGS);
    assert_int_equal(al_arg_pathspec("paths", "", true, &spec, NULL), AL_ERR_BAD_ARGS);
    assert_null(spec);
}

static void git_takes_a_literal_pathspec_for_that_file_alone(void **state)
{
    static const char *const names[] = { "*.txt", ":c.txt", "[a].txt", "a\\b.txt" };

    (void)state;
    tmpdir_write(home, "plain.txt", "x\n");
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_freep) char *spec = NULL;
        al_auto(al_freep) char *listed = NULL;

        tmpdir_write(home, names[i], "x\n");
        assert_int_equal(al_arg_pathspec("paths", names[i], true, &spec, NULL), 0);
        listed = git_output(home, "ls-files", "-z", "-o", "--", spec, NULL);
        assert_string_equal(listed, names[i]);
        assert_int_equal(listed[strlen(listed) + 1], '\0'); /* no second entry */
    }
}

static void ranges_have_one_or_two_ends(void **state)
{
    static const struct {
        const char *value;
        int status;
    } facts[] = {
        { "main", 0 },
        { "HEAD~3", 0 },
        { "main..feature", 0 },
        { "main...feature", 0 },
        { "main..", 0 },
        { "...feature", 0 },
        { "..", AL_ERR_BAD_ARGS },
        { "...", AL_ERR_BAD_ARGS },
        { "", AL_ERR_BAD_ARGS },
        { "-x", AL_ERR_BAD_ARGS },
        { "-x..main", AL_ERR_BAD_ARGS },
        { "main..-x", AL_ERR_BAD_ARGS },
        { "a..b..c", AL_ERR_BAD_ARGS },
        { "a.....b", AL_ERR_BAD_ARGS },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++)
        assert_int_equal(al_arg_check_range("ref", facts[i].value, NULL), facts[i].status);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(branch_names_are_judged_as_git_judges_them),
        cmocka_unit_test(a_refused_branch_names_the_parameter_and_the_rule),
        cmocka_unit_test(revisions_of_every_single_form_are_taken),
        cmocka_unit_test(revisions_that_are_options_ranges_or_noise_are_refused),
        cmocka_unit_test(pathspecs_of_existing_files_are_literal),
        cmocka_unit_test(other_pathspecs_may_be_globs_but_not_magic),
        cmocka_unit_test(an_empty_pathspec_is_refused_either_way),
        cmocka_unit_test(ranges_have_one_or_two_ends),
        cmocka_unit_test(git_takes_a_literal_pathspec_for_that_file_alone),
    };

    return cmocka_run_group_tests_name("guard/arg", tests, setup, teardown);
}
