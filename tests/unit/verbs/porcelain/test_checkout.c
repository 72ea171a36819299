// SPDX-License-Identifier: Apache-2.0
/* verbs/porcelain/checkout.c, git/plumbing/filters.c, git/refs.c: which word detaches HEAD,
 * whose attributes apply, and which refs exist. */
#include "git/command.h"
#include "git/failure.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/refs.h"
#include "tests/unit/git/lib.h"
#include "verbs/porcelain/checkout.h"

/* The branch and the commit that a word resolves to; "" for none. */
static void assert_target(const struct al_repo *repo, const char *word, const char *branch,
                          const char *oid)
{
    al_auto(al_checkout_target_clear) struct al_checkout_target target = { .branch = NULL };

    print_message("  %s\n", word);
    assert_int_equal(al_git_resolve_checkout(repo, word, &target, NULL), 0);
    assert_string_equal(target.branch ? target.branch : "", branch);
    assert_string_equal(target.oid ? target.oid : "", oid);
}

static void finds_refs_loose_and_packed(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    git_ok(w->repo, "branch", "packed/one", NULL);
    git_ok(w->repo, "pack-refs", "--all", NULL);
    git_ok(w->repo, "branch", "loose/one", NULL);
    assert_true(al_ref_exists(&repo->at, "refs/heads/packed/one"));
    assert_true(al_ref_exists(&repo->at, "refs/heads/loose/one"));
    assert_true(al_ref_exists(&repo->at, "refs/heads/main"));
    for (size_t i = 0; i < 2; i++) {
        assert_false(al_ref_exists(&repo->at, "refs/heads/packed"));
        assert_false(al_ref_exists(&repo->at, "refs/heads/packed/on"));
        assert_false(al_ref_exists(&repo->at, "refs/heads/packed/one/two"));
        assert_false(al_ref_exists(&repo->at, "refs/heads/loose"));
        assert_false(al_ref_exists(&repo->at, "refs/heads/loose/one/two"));
        assert_false(al_ref_exists(&repo->at, "heads/packed/one"));
        assert_false(al_ref_exists(&repo->at, "refs/heads/../heads/main"));
        git_ok(w->repo, "pack-refs", "--all", NULL);
    }
    git_ok(w->repo, "branch", "-D", "packed/one", NULL);
    assert_false(al_ref_exists(&repo->at, "refs/heads/packed/one"));
}

static void a_pipe_is_no_ref(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *path = tmpdir_path(w->repo, ".git/refs/stash");

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(al_ref_exists(&repo->at, "refs/stash"));
}

static void a_word_is_the_branch_or_the_commit_that_checkout_takes_it_for(void **state)
{
    static const char *const commits[] = {
        "HEAD", "@", "main~0", "main^0", "refs/heads/main", "heads/main", "v1", "@{0}"
    };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *id = al_ref_head(&repo->at);

    git_ok(w->repo, "branch", "a/b", NULL);
    git_ok(w->repo, "tag", "v1", NULL);
    git_ok(w->repo, "checkout", "-q", "--track", "-b", "topic", "main", NULL);
    assert_target(repo, "main", "refs/heads/main", id);
    assert_target(repo, "a/b", "refs/heads/a/b", id);
    assert_target(repo, "@{-1}", "refs/heads/main", id);
    assert_target(repo, "@{u}", "refs/heads/main", id);
    assert_target(repo, "topic@{upstream}", "refs/heads/main", id);
    for (size_t i = 0; i < COUNT(commits); i++)
        assert_target(repo, commits[i], "", id);
    assert_target(repo, "no-such", "", "");
    assert_target(repo, "a.txt", "", "");
}

/* Check a.txt and b.txt against the attributes of `tree`. */
static int check_filters(struct world *w, const char *tree)
{
    char one[] = "a.txt", other[] = "b.txt", *paths[] = { one, other };
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    const struct al_strv list = { .items = paths, .count = COUNT(paths) };

    al_error_clear(&w->err);
    return al_git_check_filters(repo, &list, tree, &w->err);
}

static void counts_the_attributes_of_the_tree_it_is_told(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "checkout", "-q", "-b", "with", NULL);
    git_fixture_commit(w->repo, ".gitattributes", "b.txt filter=evil\n", "attributes");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    assert_int_equal(check_filters(w, "with"), 0); /* nobody has configured the filter */
    git_ok(w->repo, "config", "filter.evil.smudge", "false", NULL);
    assert_int_equal(check_filters(w, "main"), 0);
    assert_int_equal(check_filters(w, NULL), 0);
    assert_int_equal(check_filters(w, "with"), AL_ERR_EXECUTION);
    assert_string_equal(w->err.message,
                        "'b.txt' goes through the filter 'evil', a program airlock does not run; "
                        "do this one with git itself");
    git_ok(w->repo, "checkout", "-q", "with", NULL);
    assert_int_equal(check_filters(w, "main"), 0);
    assert_int_equal(check_filters(w, NULL), AL_ERR_EXECUTION);
}

static void counts_attributes_that_lie_about(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "config", "filter.evil.smudge", "false", NULL);
    tmpdir_write(w->repo, ".gitattributes", "*.md filter=evil\n");
    assert_int_equal(check_filters(w, "main"), 0);
    tmpdir_write(w->repo, ".gitattributes", "a.txt filter=evil\n");
    assert_int_equal(check_filters(w, "main"), AL_ERR_EXECUTION);
    git_ok(w->repo, "add", ".gitattributes", NULL);
    assert_int_equal(check_filters(w, "main"), 0);
}

static void only_a_complaint_of_git_is_one(void **state)
{
    const struct al_run_limits complained = { .exit_code = 128 }, ended = { .exit_code = 0 },
                               killed = { .exit_code = -1 };

    (void)state;
    assert_true(al_git_exited_with_error(AL_ERR_EXECUTION, &complained));
    assert_false(al_git_exited_with_error(AL_ERR_EXECUTION, &ended));
    assert_false(al_git_exited_with_error(AL_ERR_EXECUTION, &killed));
    assert_false(al_git_exited_with_error(AL_ERR_TIMEOUT, &complained));
    assert_false(al_git_exited_with_error(0, &complained));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(finds_refs_loose_and_packed),
        WORLD_TEST(a_pipe_is_no_ref),
        WORLD_TEST(a_word_is_the_branch_or_the_commit_that_checkout_takes_it_for),
        WORLD_TEST(counts_the_attributes_of_the_tree_it_is_told),
        WORLD_TEST(counts_attributes_that_lie_about),
        cmocka_unit_test(only_a_complaint_of_git_is_one),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
