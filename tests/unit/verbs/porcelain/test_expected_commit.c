// SPDX-License-Identifier: Apache-2.0
/* verbs/porcelain/commit.c: a commit or a merge that differs from the one shown is
 * undone. */
#include "git/command.h"
#include "git/run.h"
#include "tests/unit/git/tree.h"
#include "verbs/porcelain/commit.h"
#include "verbs/sequencer/merge.h"

/* Commit what is staged, when the user was shown `expected`. */
static int commit(struct world *w, const char *expected)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_commit_options options = { .message = "message\n", .expected = expected };

    al_error_clear(&w->err);
    return al_git_commit(repo, &options, 65536, &output, &w->err);
}

static char *expect(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    char *expected = NULL;

    assert_int_equal(al_git_expect_commit(repo, NULL, &expected, NULL, NULL), 0);
    return expected;
}

static void stage(struct world *w, const char *name, const char *text)
{
    tmpdir_write(w->repo, name, text);
    git_ok(w->repo, "add", name, NULL);
}

/* Either the commit is made, or only HEAD's reflog shows that it was. */
static void assert_commit(struct world *w, const char *expected, bool good)
{
    al_auto(al_freep) char *before = git_output(w->repo, "rev-parse", "HEAD", NULL);
    al_auto(al_freep) char *staged = git_output(w->repo, "ls-files", "-s", NULL);
    al_auto(al_freep) char *after = NULL;
    al_auto(al_freep) char *still = NULL;

    int r = commit(w, expected);

    print_message("  %s\n", w->err.message ? w->err.message : "committed");
    assert_int_equal(r, good ? 0 : AL_ERR_EXECUTION);
    after = git_output(w->repo, "rev-parse", "HEAD", NULL);
    still = git_output(w->repo, "ls-files", "-s", NULL);
    assert_int_equal(strcmp(before, after) != 0, good);
    assert_string_equal(staged, still);
    if (!good)
        assert_non_null(strstr(w->err.message, "differs from what was shown"));
}

static void makes_the_commit_that_was_shown(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *expected = NULL;
    al_auto(al_freep) char *renamed = NULL;

    stage(w, "a.txt", "two\n");
    stage(w, "new/file", "x\n");
    git_ok(w->repo, "update-index", "--chmod=+x", "new/file", NULL);
    expected = expect(w);
    assert_commit(w, expected, true);
    git_ok(w->repo, "mv", "a.txt", "b.txt", NULL);
    renamed = expect(w);
    assert_commit(w, renamed, true);
}

static void takes_another_commit_back(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *expected = NULL;

    stage(w, "a.txt", "good\n");
    expected = expect(w);
    stage(w, "a.txt", "evil\n");
    assert_commit(w, expected, false);
    stage(w, "a.txt", "good\n");
    stage(w, "evil.txt", "x\n");
    assert_commit(w, expected, false);
    git_ok(w->repo, "rm", "-q", "--cached", "evil.txt", NULL);
    git_ok(w->repo, "update-index", "--chmod=+x", "a.txt", NULL);
    assert_commit(w, expected, false);
    git_ok(w->repo, "update-index", "--chmod=-x", "a.txt", NULL);
    assert_commit(w, expected, true);
}

static void takes_a_commit_with_other_parents_back(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *expected = NULL;
    al_auto(al_freep) char *other = NULL;
    al_auto(al_freep) char *merge_head = NULL;

    git_ok(w->repo, "checkout", "-q", "-b", "other", NULL);
    git_fixture_commit(w->repo, "o.txt", "o\n", "other");
    other = git_output(w->repo, "rev-parse", "HEAD", NULL);
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    stage(w, "a.txt", "good\n");
    expected = expect(w);
    tmpdir_write(w->repo, ".git/MERGE_HEAD", other);
    assert_commit(w, expected, false);
    merge_head = tmpdir_read(w->repo, ".git/MERGE_HEAD");
    assert_string_equal(merge_head, other); /* the merge is still in progress */
    free(al_take(&expected));
    expected = expect(w);
    assert_commit(w, expected, true);
}

/* --no-ff records HEAD as a parent even if the other commit contains it; without the option git
 * leaves it out. */
static void makes_a_merge_with_all_parents_where_git_does(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *expected = NULL;
    al_auto(al_freep) char *parents = NULL;

    git_ok(w->repo, "checkout", "-q", "-b", "other", NULL);
    git_fixture_commit(w->repo, "o.txt", "o\n", "other");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_ok(w->repo, "merge", "-q", "--no-ff", "--no-commit", "other", NULL);
    expected = expect(w);
    assert_commit(w, expected, true);
    parents = git_output(w->repo, "rev-list", "--parents", "-1", "HEAD", NULL);
    assert_non_null(strchr(strchr(parents, ' ') + 1, ' '));
}

static void makes_the_first_commit_of_a_repository(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *expected = NULL;

    git_ok(w->repo, "checkout", "-q", "--orphan", "fresh", NULL);
    expected = expect(w);
    stage(w, "evil.txt", "x\n");
    assert_int_equal(commit(w, expected), AL_ERR_EXECUTION);
    {
        al_auto(al_freep) char *branches = git_output(w->repo, "branch", "--list", "fresh", NULL);

        assert_string_equal(branches, ""); /* the branch is unborn again */
    }
    git_ok(w->repo, "rm", "-q", "--cached", "evil.txt", NULL);
    assert_int_equal(commit(w, expected), 0);
    git_ok(w->repo, "rev-parse", "--verify", "-q", "HEAD", NULL);
}

/* Merge `feature`, after the user was shown the commit `shown`. */
static int merge(struct world *w, const char *shown, struct al_merge_outcome *outcome)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    const struct al_merge_options options = { .commit = "feature", .oid = shown };

    al_error_clear(&w->err);
    return al_git_merge(repo, &options, 65536, outcome, &w->err);
}

/* `feature` is one commit ahead. With `ours` the merge needs a merge commit, and with a.txt it has
 * a conflict. */
static void assert_merge(struct world *w, const char *ours, bool conflicts)
{
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_freep) char *shown = NULL;

    git_ok(w->repo, "checkout", "-q", "-B", "feature", "start", NULL);
    git_fixture_commit(w->repo, "a.txt", "theirs\n", "theirs");
    shown = git_output(w->repo, "rev-parse", "HEAD", NULL);
    shown[strcspn(shown, "\n")] = '\0';
    git_fixture_commit(w->repo, "evil.txt", "evil\n", "evil");
    git_ok(w->repo, "checkout", "-q", "-B", "main", "start", NULL);
    if (ours)
        git_fixture_commit(w->repo, ours, "ours\n", "ours");
    assert_int_equal(merge(w, shown, &outcome), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "merged another commit than the one"));
    git_ok(w->repo, "reset", "-q", "--hard", conflicts ? "HEAD" : "ORIG_HEAD", NULL);
    git_ok(w->repo, "update-ref", "refs/heads/feature", shown, NULL);
    assert_int_equal(merge(w, shown, &outcome), 0);
    assert_int_equal(outcome.conflicted, conflicts);
    if (conflicts)
        git_ok(w->repo, "merge", "--abort", NULL);
}

static void sees_a_merge_of_another_commit(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "tag", "start", NULL);
    assert_merge(w, NULL, false);
    assert_merge(w, "ours.txt", false);
    assert_merge(w, "a.txt", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(makes_the_commit_that_was_shown),
        WORLD_TEST(takes_another_commit_back),
        WORLD_TEST(takes_a_commit_with_other_parents_back),
        WORLD_TEST(makes_a_merge_with_all_parents_where_git_does),
        WORLD_TEST(makes_the_first_commit_of_a_repository),
        WORLD_TEST(sees_a_merge_of_another_commit),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
