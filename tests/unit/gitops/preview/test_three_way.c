// SPDX-License-Identifier: Apache-2.0
/* gitops/preview/written_files.h: what a merge is known to write, and when that is not known. */
#include "gitops/preview/written_files.h"

#include "tests/unit/gitops/lib.h"

#define LINES "1\n2\n3\n4\n5\n6\n7\n8\n"

/* Files on both sides, and the branch of the other side. */
static void begin(struct world *w)
{
    git_fixture_commit(w->repo, "plain.txt", LINES "plain\n", "plain");
    git_fixture_commit(w->repo, "old/one.txt", LINES "one\n", "one");
    git_fixture_commit(w->repo, "old/two.txt", LINES "two\n", "two");
    git_fixture_commit(w->repo, "stay/in.txt", LINES "in\n", "in");
    git_ok(w->repo, "branch", "other", NULL);
}

static void move(struct world *w, const char *from, const char *to)
{
    git_ok(w->repo, "mv", from, to, NULL);
    git_ok(w->repo, "commit", "-q", "-m", "moved", NULL);
}

static void go_to(struct world *w, const char *branch)
{
    git_ok(w->repo, "checkout", "-q", branch, NULL);
}

/* The names of the list, each followed by a space; "?" when it is not known. */
static char *list_merged(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *oid = git_output(w->repo, "rev-parse", "other", NULL);
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    struct al_run_limits budget = long_budget();
    struct al_str text = AL_STR_INIT;
    bool known;

    oid[strcspn(oid, "\n")] = '\0';
    assert_int_equal(al_git_merged_files(repo, oid, &budget, &known, &files, &w->err), 0);
    if (!known) {
        assert_int_equal(files.count, 0);
        return al_strdup("?");
    }
    al_strv_sort(&files);
    for (size_t i = 0; i < files.count; i++)
        al_str_addf(&text, "%s ", files.items[i] + strlen(repo->at.top) + 1);
    return al_str_detach(&text);
}

static void assert_merged(struct world *w, const char *expected)
{
    al_auto(al_freep) char *found = list_merged(w);

    assert_string_equal(found, expected);
}

static void lists_what_the_other_side_changed(void **state)
{
    struct world *w = *state;

    begin(w);
    git_fixture_commit(w->repo, "stay/in.txt", "ours\n", "ours");
    go_to(w, "other");
    git_fixture_commit(w->repo, "plain.txt", "theirs\n", "theirs");
    git_fixture_commit(w->repo, "stay/new.txt", "new\n", "theirs");
    go_to(w, "main");
    assert_merged(w, "plain.txt stay/new.txt ");
    /* A merge that fails resets files with local changes, and applies them again. */
    tmpdir_write(w->repo, "old/one.txt", "local\n");
    tmpdir_write(w->repo, "stay/in.txt", "staged\n");
    git_ok(w->repo, "add", "stay/in.txt", NULL);
    assert_merged(w, "old/one.txt plain.txt stay/in.txt stay/new.txt ");
}

static void follows_a_renamed_file(void **state)
{
    struct world *w = *state;

    begin(w);
    move(w, "plain.txt", "stay/renamed.txt");
    go_to(w, "other");
    git_fixture_commit(w->repo, "plain.txt", LINES "theirs\n", "theirs");
    go_to(w, "main");
    assert_merged(w, "plain.txt stay/renamed.txt ");
    git_ok(w->repo, "merge", "-q", "--no-edit", "other", NULL);
    {
        al_auto(al_freep) char *text = tmpdir_read(w->repo, "stay/renamed.txt");

        assert_string_equal(text, LINES "theirs\n"); /* git did write it */
    }
}

static void does_not_know_where_a_renamed_directory_leads(void **state)
{
    struct world *w = *state;

    begin(w);
    move(w, "old", "new");
    go_to(w, "other");
    git_fixture_commit(w->repo, "old/three.txt", "three\n", "theirs");
    go_to(w, "main");
    assert_merged(w, "?");
}

static void nor_when_the_other_side_renamed_it(void **state)
{
    struct world *w = *state;

    begin(w);
    git_fixture_commit(w->repo, "old/three.txt", "three\n", "ours");
    go_to(w, "other");
    move(w, "old", "new");
    go_to(w, "main");
    assert_merged(w, "?");
}

static void knows_a_renamed_directory_that_gets_no_file(void **state)
{
    struct world *w = *state;

    begin(w);
    git_fixture_commit(w->repo, "plain.txt", "ours\n", "ours");
    go_to(w, "other");
    move(w, "old", "new");
    go_to(w, "main");
    assert_merged(w, "new/one.txt new/two.txt old/one.txt old/two.txt ");
}

static void does_not_know_a_file_that_meets_a_directory(void **state)
{
    struct world *w = *state;

    begin(w);
    git_fixture_commit(w->repo, "both", "ours\n", "ours");
    go_to(w, "other");
    git_fixture_commit(w->repo, "both/theirs.txt", "theirs\n", "theirs");
    go_to(w, "main");
    assert_merged(w, "?");
}

static void does_not_know_several_merge_bases(void **state)
{
    struct world *w = *state;

    begin(w);
    git_fixture_commit(w->repo, "ours.txt", "ours\n", "ours");
    git_ok(w->repo, "branch", "ours", NULL);
    go_to(w, "other");
    git_fixture_commit(w->repo, "theirs.txt", "theirs\n", "theirs");
    git_ok(w->repo, "branch", "theirs", NULL);
    git_ok(w->repo, "merge", "-q", "--no-edit", "ours", NULL);
    go_to(w, "main");
    git_ok(w->repo, "merge", "-q", "--no-edit", "theirs", NULL);
    assert_merged(w, "?");
}

static void does_not_know_a_sparse_checkout_or_marks(void **state)
{
    struct world *w = *state;

    begin(w);
    go_to(w, "other");
    git_fixture_commit(w->repo, "plain.txt", "theirs\n", "theirs");
    go_to(w, "main");
    assert_merged(w, "plain.txt ");
    git_ok(w->repo, "update-index", "--assume-unchanged", "stay/in.txt", NULL);
    assert_merged(w, "?");
    git_ok(w->repo, "update-index", "--no-assume-unchanged", "stay/in.txt", NULL);
    assert_merged(w, "plain.txt ");
    tmpdir_mkdir(w->repo, ".git/info");
    tmpdir_write(w->repo, ".git/info/sparse-checkout", "/*\n");
    assert_merged(w, "?");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(lists_what_the_other_side_changed),
        WORLD_TEST(follows_a_renamed_file),
        WORLD_TEST(does_not_know_where_a_renamed_directory_leads),
        WORLD_TEST(nor_when_the_other_side_renamed_it),
        WORLD_TEST(knows_a_renamed_directory_that_gets_no_file),
        WORLD_TEST(does_not_know_a_file_that_meets_a_directory),
        WORLD_TEST(does_not_know_several_merge_bases),
        WORLD_TEST(does_not_know_a_sparse_checkout_or_marks),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/preview/three_way", tests, NULL, NULL);
}
