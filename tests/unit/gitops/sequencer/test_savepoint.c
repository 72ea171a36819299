// SPDX-License-Identifier: Apache-2.0
/* gitops/sequencer/savepoint.c: after any command that was killed the repository is restored, and
 * changes by other processes stay. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/sequencer/savepoint.h"
#include "tests/unit/gitops/tree.h"

static void note(struct world *w, const struct al_repo *repo, const char *incoming,
                 struct al_savepoint *savepoint)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    struct al_run_limits budget = long_budget();

    if (incoming)
        al_strv_add(&commits, incoming);
    assert_int_equal(al_savepoint_create(repo, &commits, &budget, savepoint, &w->err), 0);
}

/* main and feature change the same files, and add, remove and move some. */
static void part(struct world *w)
{
    git_fixture_commit(w->repo, "keep/gone.txt", "gone\n", "more");
    git_fixture_commit(w->repo, "move.txt", "1\n2\n3\n4\n", "more");
    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    git_fixture_commit(w->repo, "a.txt", "theirs\n", "theirs");
    git_fixture_commit(w->repo, "new/dir/b.txt", "b\n", "theirs");
    git_ok(w->repo, "rm", "-q", "keep/gone.txt", NULL);
    git_ok(w->repo, "mv", "move.txt", "moved.txt", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "theirs", NULL);
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "c.txt", "c\n", "ours");
    git_fixture_commit(w->repo, "a.txt", "ours\n", "ours");
    tmpdir_write(w->repo, "c.txt", "edited\n");
    tmpdir_write(w->repo, "mine.txt", "untracked\n");
}

/* Take a savepoint, run plain git with `words`, restore, and assert that nothing of it is left. */
static void assert_undone(struct world *w, const char *const *words)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_freep) char *was = tree_text(w->repo);
    al_auto(al_freep) char *is = NULL;

    note(w, repo, "feature", &savepoint);
    (void)git_status_of(w->repo, words[0], words[1], words[2], words[3], NULL);
    {
        al_auto(al_freep) char *changed = tree_text(w->repo);

        assert_string_not_equal(was, changed);
    }
    assert_int_equal(al_savepoint_restore(repo, &savepoint, &w->err), 0);
    is = tree_text(w->repo);
    assert_same_tree(was, is);
}

static void undoes_what_git_did(void **state)
{
    static const char *const merges[][4] = {
        { "merge", "-q", "feature", NULL },
        { "cherry-pick", "feature~2", NULL, NULL },
    };
    struct world *w = *state;

    part(w);
    for (size_t i = 0; i < COUNT(merges); i++)
        assert_undone(w, merges[i]);
}

/* Take a savepoint of the files that a switch to feature can write, switch, and restore. */
static void assert_switch_undone(struct world *w)
{
    static const char *const names[] = { "a.txt",    "c.txt",     "keep/gone.txt", "link",
                                         "move.txt", "moved.txt", "new/dir/b.txt" };
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    al_auto(al_freep) char *was = NULL, *is = NULL, *later = NULL;
    struct al_run_limits budget = long_budget();

    for (size_t i = 0; i < COUNT(names); i++)
        al_strv_add(&files, names[i]);
    al_strv_add(&commits, "feature");
    assert_int_equal(al_savepoint_create_for(repo, &commits, &files, &budget, &savepoint, &w->err),
                     0);
    was = tree_text(w->repo);
    git_ok(w->repo, "checkout", "-q", "feature", NULL);
    tmpdir_write(w->repo, "later.txt", "untracked, and made meanwhile\n");
    git_ok(w->repo, "hash-object", "-w", "later.txt", NULL);
    assert_int_equal(al_savepoint_restore(repo, &savepoint, &w->err), 0);
    later = tmpdir_path(w->repo, "later.txt");
    assert_int_equal(unlink(later), 0); /* it is none of the files */
    is = tree_text(w->repo);
    assert_same_tree(was, is);
}

static void restores_the_named_files_only(void **state)
{
    struct world *w = *state;

    part(w);
    git_ok(w->repo, "checkout", "-q", "--", "c.txt", NULL);
    assert_switch_undone(w);
    tmpdir_write(w->repo, "mine.txt", "a change of the user's\n"); /* git does not write it */
    git_ok(w->repo, "add", "-N", "mine.txt", NULL);
    assert_switch_undone(w);
}

/* Another program moves the branch after the look at it: git merges what nobody expected. */
static void assert_unexpected_undone(struct world *w, const char *strategy)
{
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT, files = AL_STRV_INIT;
    al_auto(al_freep) char *was = NULL, *is = NULL;
    struct al_run_limits budget = long_budget();

    repo = must_open(w, "repo");
    al_strv_add(&commits, "HEAD");
    assert_int_equal(al_savepoint_create_for(repo, &commits, &files, &budget, &savepoint, &w->err),
                     0);
    tmpdir_write(w->repo, "own.txt", "the user's, and made meanwhile\n");
    was = tree_text(w->repo);
    (void)git_status_of(w->repo, "merge", "-q", strategy, "feature", NULL);
    assert_int_equal(al_savepoint_restore(repo, &savepoint, &w->err), 0);
    is = tree_text(w->repo);
    assert_same_tree(was, is);
}

static void undoes_what_nobody_expected(void **state)
{
    struct world *w = *state;

    part(w);
    git_ok(w->repo, "checkout", "-q", "--", "c.txt", NULL);
    assert_unexpected_undone(w, "-Xours");     /* ends with a commit */
    assert_unexpected_undone(w, "-Xpatience"); /* ends with a conflict */
}

static void undoes_a_rebase_in_the_middle(void **state)
{
    static const char *const reset[] = { "reset", "-q", "--hard", "feature" };
    static const char *const rebase[] = { "rebase", "-q", "feature", NULL };
    static const char *const apply[] = { "rebase", "-q", "--apply", "feature" };
    struct world *w = *state;

    part(w);
    git_ok(w->repo, "checkout", "-q", "--", ".", NULL);
    assert_undone(w, reset);
    assert_undone(w, rebase);
    assert_undone(w, apply);
}

static void undoes_a_rebase_that_went_on(void **state)
{
    static const char *const goes_on[] = { "rebase", "--continue", NULL, NULL };
    struct world *w = *state;

    part(w);
    git_ok(w->repo, "checkout", "-q", "--", ".", NULL);
    setenv("GIT_EDITOR", ":", 1);
    assert_int_equal(git_status_of(w->repo, "rebase", "-q", "feature", NULL), 1);
    tmpdir_write(w->repo, "a.txt", "both\n");
    git_ok(w->repo, "add", "a.txt", NULL);
    assert_undone(w, goes_on);
    git_ok(w->repo, "rebase", "--continue", NULL); /* the rebase can still continue */
    {
        al_auto(al_freep) char *branch = git_output(w->repo, "symbolic-ref", "HEAD", NULL);

        assert_string_equal(branch, "refs/heads/main\n");
    }
}

static void works_on_an_unborn_branch_and_a_detached_head(void **state)
{
    static const char *const merge[] = { "merge", "-q", "feature", NULL };
    struct world *w = *state;

    part(w);
    git_ok(w->repo, "checkout", "-q", "--", ".", NULL);
    git_ok(w->repo, "checkout", "-q", "--detach", "HEAD~1", NULL);
    assert_undone(w, merge);
    git_ok(w->repo, "checkout", "-q", "--orphan", "new", NULL);
    git_ok(w->repo, "rm", "-q", "-rf", ".", NULL);
    assert_undone(w, merge);
}

static void keeps_changes_of_another_process(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_freep) char *theirs = NULL;
    al_auto(al_freep) char *mine = NULL;

    part(w);
    repo = must_open(w, "repo");
    note(w, repo, "feature", &savepoint);
    (void)git_status_of(w->repo, "merge", "-q", "feature", NULL);
    tmpdir_write(w->repo, "written-meanwhile.txt", "by nobody git knows\n");
    assert_int_equal(al_savepoint_restore(repo, &savepoint, &w->err), 0);
    mine = tmpdir_read(w->repo, "written-meanwhile.txt");
    assert_string_equal(mine, "by nobody git knows\n");
    theirs = tmpdir_read(w->repo, "new/dir/b.txt");
    assert_null(theirs);
}

static void keeps_ignored_files_that_were_there(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_freep) char *kept = NULL;

    part(w);
    tmpdir_write(w->repo, ".git/info/exclude", "new/\n");
    tmpdir_write(w->repo, "new/dir/b.txt", "ignored\n");
    repo = must_open(w, "repo");
    note(w, repo, "feature", &savepoint);
    assert_int_equal(savepoint.preexisting.len, sizeof("new/dir/b.txt"));
    assert_int_equal(al_savepoint_restore(repo, &savepoint, &w->err), 0);
    kept = tmpdir_read(w->repo, "new/dir/b.txt");
    assert_string_equal(kept, "ignored\n");
}

static void restores_only_what_was_interrupted(void **state)
{
    static const int ends[] = { 0, AL_ERR_EXECUTION, AL_ERR_TIMEOUT, AL_ERR_CANCELLED };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    for (size_t i = 0; i < COUNT(ends); i++) {
        al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        bool interrupted = i >= 2;

        note(w, repo, NULL, &savepoint);
        tmpdir_write(w->repo, "a.txt", "changed\n");
        assert_int_equal(al_savepoint_restore_if_stopped(repo, &savepoint, ends[i], &err), ends[i]);
        {
            al_auto(al_freep) char *text = tmpdir_read(w->repo, "a.txt");

            assert_string_equal(text, interrupted ? "one\n" : "changed\n");
        }
        assert_int_equal(err.detail != NULL, interrupted);
        git_ok(w->repo, "checkout", "-q", "--", ".", NULL);
    }
}

static void says_when_it_cannot_be_put_back(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_freep) char *moved = tmpdir_path(w->root, "moved");

    note(w, repo, NULL, &savepoint);
    assert_int_equal(rename(w->repo->path, moved), 0);
    assert_int_equal(al_savepoint_restore_if_stopped(repo, &savepoint, AL_ERR_TIMEOUT, &w->err),
                     AL_ERR_TIMEOUT);
    assert_true(al_starts_with(w->err.detail, "The repository could not be put back as it was: "));
}

static void follows_no_link_in_the_git_directory(void **state)
{
    static const char *const names[] = { "ORIG_HEAD", "rebase-merge", "index" };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    struct al_run_limits budget = long_budget();

    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
        al_auto(al_freep) char *name = al_asprintf(".git/%s", names[i]);
        al_auto(al_freep) char *path = tmpdir_path(w->repo, name);

        (void)unlink(path);
        tmpdir_symlink(w->repo, w->outside->path, name);
        assert_int_equal(al_savepoint_create(repo, &AL_STRV_INIT, &budget, &savepoint, &w->err),
                         AL_ERR_EXECUTION);
        assert_non_null(strstr(w->err.message, names[i]));
        assert_int_equal(unlink(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(undoes_what_git_did),
        WORLD_TEST(undoes_what_nobody_expected),
        WORLD_TEST(restores_the_named_files_only),
        WORLD_TEST(undoes_a_rebase_in_the_middle),
        WORLD_TEST(undoes_a_rebase_that_went_on),
        WORLD_TEST(works_on_an_unborn_branch_and_a_detached_head),
        WORLD_TEST(keeps_changes_of_another_process),
        WORLD_TEST(keeps_ignored_files_that_were_there),
        WORLD_TEST(restores_only_what_was_interrupted),
        WORLD_TEST(says_when_it_cannot_be_put_back),
        WORLD_TEST(follows_no_link_in_the_git_directory),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
