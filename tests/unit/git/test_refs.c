// SPDX-License-Identifier: Apache-2.0
/* git/refs.h: HEAD is found as git finds it, and never outside the repository. */
#include "git/refs.h"

#include "git/repo/repo.h"
#include "tests/unit/git/lib.h"

/* HEAD as airlock and as git see it are the same, in this directory below the root. */
static void assert_head(struct world *w, const char *given)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, given);
    al_auto(subdir_closep) struct tmpdir *dir = subdir_open(w->root, given);
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *line = al_asprintf("%s\n", head);
    al_auto(al_freep) char *expected = git_output(dir, "rev-parse", "HEAD", NULL);

    assert_string_equal(line, expected);
}

static void finds_head_on_a_loose_branch(void **state)
{
    struct world *w = *state;

    assert_head(w, "repo");
    git_ok(w->repo, "checkout", "-q", "-b", "topic/deep/er", NULL);
    git_fixture_commit(w->repo, "a.txt", "two\n", "second");
    assert_head(w, "repo");
}

static void finds_head_on_a_packed_branch(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "a.txt", "two\n", "second");
    git_ok(w->repo, "branch", "xmain", "HEAD~1", NULL); /* names around ours */
    git_ok(w->repo, "branch", "a/refs/heads/main", "HEAD~1", NULL);
    git_ok(w->repo, "branch", "mainx", "HEAD~1", NULL);
    git_ok(w->repo, "tag", "-m", "annotated", "v1", "HEAD~1", NULL);
    git_ok(w->repo, "pack-refs", "--all", NULL);
    assert_int_not_equal(faccessat(w->repo->fd, ".git/refs/heads/main", F_OK, 0), 0);
    assert_head(w, "repo");
    git_fixture_commit(w->repo, "a.txt", "three\n", "third"); /* loose again, and newer */
    assert_head(w, "repo");
}

static void finds_a_detached_head(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "a.txt", "two\n", "second");
    git_ok(w->repo, "checkout", "-q", "--detach", "HEAD~1", NULL);
    assert_head(w, "repo");
}

static void finds_the_head_of_a_linked_worktree(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "worktree", "add", "-q", "-b", "side", "../linked", NULL);
    git_fixture_commit(w->repo, "a.txt", "two\n", "second");
    assert_head(w, "linked");
    assert_head(w, "repo");
    git_ok(w->repo, "pack-refs", "--all", NULL);
    assert_head(w, "linked");
}

static void follows_a_symbolic_branch(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main", NULL);
    git_ok(w->repo, "symbolic-ref", "HEAD", "refs/heads/alias", NULL);
    assert_head(w, "repo");
}

static void assert_no_head(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    assert_string_equal(head, "");
}

static void has_no_head_on_an_unborn_branch(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "checkout", "-q", "--orphan", "unborn", NULL);
    assert_no_head(w);
}

static void has_no_head_at_the_end_of_a_circle(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, ".git/refs/heads/one", "ref: refs/heads/two\n");
    tmpdir_write(w->repo, ".git/refs/heads/two", "ref: refs/heads/one\n");
    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/heads/one\n");
    assert_no_head(w);
}

static void reads_no_ref_outside_the_repository(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "stray", "1234567890123456789012345678901234567890\n");
    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/../../stray\n");
    assert_no_head(w);
    tmpdir_symlink(w->repo, "/etc/hostname", ".git/refs/heads/link");
    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/heads/link\n");
    assert_no_head(w);
    tmpdir_write(w->outside, "stray", "1234567890123456789012345678901234567890\n");
    tmpdir_symlink(w->repo, w->outside->path, ".git/refs/heads/out");
    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/heads/out/stray\n");
    assert_no_head(w);
}

static void follows_no_head_to_an_absolute_path_or_past_references(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *absolute = al_asprintf("ref: %s/stray\n", w->outside->path);
    const char *const heads[] = { absolute, "ref: stray\n", "ref: refs/../stray\n" };

    tmpdir_write(w->outside, "stray", "1234567890123456789012345678901234567890\n");
    tmpdir_write(w->repo, ".git/stray", "1234567890123456789012345678901234567890\n");
    for (size_t i = 0; i < COUNT(heads); i++) {
        al_auto(al_freep) char *head = NULL;
        al_auto(al_strv_clear) struct al_strv branches = AL_STRV_INIT;

        tmpdir_write(w->repo, ".git/HEAD", heads[i]);
        head = al_ref_head(&repo->at);
        assert_string_equal(head, "");
        al_ref_head_branches(&repo->at, &branches);
        assert_int_equal(branches.count, 1);
        assert_string_equal(branches.items[0], "HEAD");
    }
}

/* git takes the id at the beginning of a file, whatever follows it. */
static void reads_references_however_long_their_files_are(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *id = al_ref_head(&repo->at);
    al_auto(al_freep) char *padding = al_malloc(3u << 20);
    al_auto(al_str_clear) struct al_str packed = AL_STR_INIT;

    assert_int_equal(strlen(id), 40);
    memset(padding, 'x', 8192);
    padding[8192] = '\0';
    al_str_addf(&packed, "%s\n%s\n", id, padding);
    tmpdir_write_bytes(w->repo, ".git/refs/heads/main", packed.buf, packed.len);
    {
        al_auto(al_freep) char *git = git_output(w->repo, "rev-parse", "HEAD", NULL);
        al_auto(al_freep) char *head = al_ref_head(&repo->at);

        assert_true(al_starts_with(git, id));
        assert_string_equal(head, id);
    }
    assert_int_equal(unlinkat(w->repo->fd, ".git/refs/heads/main", 0), 0);
    for (size_t before = (1u << 20) - 80; before <= (1u << 20) + 1; before++) {
        al_auto(al_freep) char *head = NULL;

        memset(padding, '#', before);
        padding[before - 1] = '\n';
        padding[before] = '\0';
        al_str_reset(&packed);
        al_str_addf(&packed, "%s%s refs/heads/main\n", padding, id);
        tmpdir_write_bytes(w->repo, ".git/packed-refs", packed.buf, packed.len);
        head = al_ref_head(&repo->at);
        assert_string_equal(head, id);
    }
}

/* What airlock takes from a file of the repository and gives to git is no option and no path. */
static void knows_what_an_object_id_is(void **state)
{
    static const char *const others[] = { "",     "-1",   "0x1", "HEAD", "1 2", "12\n",
                                          "ABCD", "abcg", "a/b", "..",   "a^" };

    (void)state;
    assert_true(al_is_oid("0", 1));
    assert_true(al_is_oid("0123456789abcdef", 16));
    for (size_t i = 0; i < AL_COUNT(others); i++)
        assert_false(al_is_oid(others[i], strlen(others[i])));
    assert_false(al_is_oid("12\0--x", 6));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(finds_head_on_a_loose_branch),
        WORLD_TEST(finds_head_on_a_packed_branch),
        WORLD_TEST(finds_a_detached_head),
        WORLD_TEST(finds_the_head_of_a_linked_worktree),
        WORLD_TEST(follows_a_symbolic_branch),
        WORLD_TEST(has_no_head_on_an_unborn_branch),
        WORLD_TEST(has_no_head_at_the_end_of_a_circle),
        WORLD_TEST(reads_no_ref_outside_the_repository),
        WORLD_TEST(follows_no_head_to_an_absolute_path_or_past_references),
        WORLD_TEST(reads_references_however_long_their_files_are),
        cmocka_unit_test(knows_what_an_object_id_is),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/refs", tests, NULL, NULL);
}
