// SPDX-License-Identifier: Apache-2.0
/* gitops/preview/sides.h: the changes that come in, read without git, are those that git tells. */
#include "gitops/preview/sides.h"

#include <sys/stat.h>

#include "tests/unit/gitops/tree.h"

static char *rev(struct world *w, const char *name)
{
    char *oid = git_output(w->repo, "rev-parse", name, NULL);

    oid[strcspn(oid, "\n")] = '\0';
    return oid;
}

static void assert_same_side(const struct al_side *found, const struct al_side *expected)
{
    assert_int_equal(found->count, expected->count);
    for (size_t i = 0; i < found->count; i++) {
        assert_string_equal(found->items[i].path, expected->items[i].path);
        assert_int_equal(found->items[i].status, expected->items[i].status);
        assert_int_equal(found->items[i].old_mode, expected->items[i].old_mode);
        assert_int_equal(found->items[i].new_mode, expected->items[i].new_mode);
    }
}

/* Compare with what git prints for these words. */
static void assert_as_git(struct world *w, const struct al_repo *repo, const struct al_side *found,
                          const char *const *words)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_side_clear) struct al_side expected = AL_SIDE_INIT;
    struct al_run_limits budget = long_budget();

    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    assert_int_equal(al_side_read(repo, &command, &budget, &expected, &w->err), 0);
    assert_same_side(found, &expected);
}

static void change_files(struct world *w)
{
    tmpdir_write(w->repo, "a.txt", "changed\n");
    tmpdir_write(w->repo, "dir/new.txt", "new\n");
    git_ok(w->repo, "add", "dir/new.txt", NULL);
}

static void reads_an_entry(void **state)
{
    static const char *const words[] = { "git", "stash", "show",         "--include-untracked",
                                         "-z",  "--raw", "--no-renames", "stash@{0}",
                                         NULL };
    struct world *w = *state;

    for (int i = 0; i < 4; i++) {
        al_auto(repo_freep) struct al_repo *repo = NULL;
        al_auto(al_side_clear) struct al_side side = AL_SIDE_INIT, by_id = AL_SIDE_INIT;
        al_auto(al_freep) char *id = NULL;

        change_files(w);
        if (i == 1)
            git_ok(w->repo, "rm", "-q", "-f", "a.txt", NULL);
        tmpdir_write(w->repo, "untracked/file.txt", "untracked\n");
        git_ok(w->repo, "stash", "push", "-q", i >= 2 ? "--include-untracked" : "--", NULL);
        if (i == 3)
            git_ok(w->repo, "gc", "-q", NULL);
        repo = must_open(w, "repo");
        id = rev(w, "stash");
        assert_true(al_side_of_stash(repo, "stash@{0}", &side));
        assert_as_git(w, repo, &side, words);
        assert_true(al_side_of_stash(repo, id, &by_id));
        assert_same_side(&by_id, &side);
    }
}

static void leaves_other_entries_to_git(void **state)
{
    static const char *const names[] = { "stash@{1}", "stash", "", "HEAD", "stash@{0}" };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_side_clear) struct al_side side = AL_SIDE_INIT;
    al_auto(al_freep) char *head = rev(w, "HEAD");

    for (size_t i = 0; i < COUNT(names); i++)
        assert_false(al_side_of_stash(repo, names[i], &side));
    assert_false(al_side_of_stash(repo, head, &side));
    assert_int_equal(side.count, 0);
}

/* What git says of the changes from `base` to `tip`. */
static void assert_is_from(struct world *w, const char *base, const char *head, const char *tip)
{
    const char *const words[] = { "git",          "diff-tree", "-r", "-z", "--raw",
                                  "--no-renames", base,        tip,  NULL };
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_side_clear) struct al_side side = AL_SIDE_INIT;

    assert_true(al_side_of_commit(repo, head, tip, &side));
    assert_as_git(w, repo, &side, words);
}

static void reads_what_is_ahead(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *base = rev(w, "HEAD");

    for (unsigned i = 1; i <= 3; i++) {
        al_auto(repo_freep) struct al_repo *repo = NULL;
        al_auto(al_side_clear) struct al_side none = AL_SIDE_INIT;
        al_auto(al_freep) char *tip = NULL;
        al_auto(al_freep) char *name = al_asprintf("file%u.txt", i);

        git_fixture_commit(w->repo, name, "more\n", "more");
        tip = rev(w, "HEAD");
        assert_is_from(w, base, base, tip);
        repo = must_open(w, "repo");
        assert_true(al_side_of_commit(repo, tip, base, &none));
        assert_int_equal(none.count, 0);
    }
}

static void reads_a_fork(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *base = rev(w, "HEAD");
    al_auto(al_freep) char *one = NULL;
    al_auto(al_freep) char *two = NULL;

    git_ok(w->repo, "checkout", "-q", "-b", "side", NULL);
    git_fixture_commit(w->repo, "side.txt", "side\n", "side");
    one = rev(w, "HEAD");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "main.txt", "main\n", "main");
    two = rev(w, "HEAD");
    assert_is_from(w, base, one, two);
    assert_is_from(w, base, two, one);
}

static void leaves_a_cut_history_to_git(void **state)
{
    struct world *w = *state;
    al_auto(al_side_clear) struct al_side side = AL_SIDE_INIT;
    al_auto(al_freep) char *base = rev(w, "HEAD");
    al_auto(al_freep) char *tip = NULL;
    al_auto(repo_freep) struct al_repo *repo = NULL;

    git_fixture_commit(w->repo, "more.txt", "more\n", "more");
    tip = rev(w, "HEAD");
    tmpdir_write(w->repo, ".git/shallow", "");
    repo = must_open(w, "repo");
    assert_false(al_side_of_commit(repo, base, tip, &side));
    assert_int_equal(side.count, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(reads_an_entry),
        WORLD_TEST(leaves_other_entries_to_git),
        WORLD_TEST(reads_what_is_ahead),
        WORLD_TEST(reads_a_fork),
        WORLD_TEST(leaves_a_cut_history_to_git),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/preview/sides", tests, NULL, NULL);
}
