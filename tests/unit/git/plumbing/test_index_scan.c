// SPDX-License-Identifier: Apache-2.0
/* git/plumbing/index_scan.h: no gitlink is overlooked, whatever the index contains. */
#include "git/plumbing/index_scan.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "git/plumbing/gitdir.h"
#include "git/repo/repo.h"
#include "tests/unit/git/lib.h"

#define PIECE_BYTES 65536

static bool may_have_gitlinks_in(struct world *w, const char *dir)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, dir);

    return al_repo_index_facts(&repo->at).gitlinks;
}

static bool may_have_gitlinks(struct world *w)
{
    return may_have_gitlinks_in(w, "repo");
}

static void finds_gitlinks_in_a_real_index(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *head = git_output(w->repo, "rev-parse", "HEAD", NULL);
    al_auto(al_freep) char *entry = al_asprintf("160000,%.40s,sub", head);

    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--add", "--cacheinfo", entry, NULL);
    assert_true(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    assert_true(may_have_gitlinks(w));
    git_ok(w->repo, "rm", "-q", "--cached", "sub", NULL);
    assert_false(may_have_gitlinks(w));
}

static void suspects_an_index_it_cannot_see_all_of(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "update-index", "--split-index", NULL);
    assert_true(may_have_gitlinks(w));
    assert_int_equal(unlinkat(w->repo->fd, ".git/index", 0), 0);
    assert_false(may_have_gitlinks(w)); /* nothing is tracked */
    tmpdir_symlink(w->repo, "elsewhere", ".git/index");
    assert_true(may_have_gitlinks(w));
    assert_int_equal(unlinkat(w->repo->fd, ".git/index", 0), 0);
    tmpdir_mkdir(w->repo, ".git/index");
    assert_true(may_have_gitlinks(w));
}

/* What stands in names, sizes and contents is the agent's to choose, and decides nothing. */
static void is_not_told_by_names_and_sizes(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *big = al_malloc(0xe000);
    al_auto(al_freep) char *deep = al_malloc(5001);

    memset(big, 'x', 0xe000);
    tmpdir_write(w->repo, "link", "x\n");
    tmpdir_write(w->repo, "sdir", "x\n");
    tmpdir_write(w->repo, "symlinks/link.md", "x\n");
    tmpdir_write_bytes(w->repo, "big", big, 0xe000); /* the size has the bytes of the mode */
    git_ok(w->repo, "add", "link", "sdir", "symlinks", "big", NULL);
    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--index-version", "2", NULL);
    git_ok(w->repo, "add", "-N", "big", NULL);
    for (size_t i = 0; i < 5000; i++)
        deep[i] = i % 200 == 199 ? '/' : 'd';
    deep[4999] = 'f';
    deep[5000] = '\0';
    al_auto(al_freep) char *entry =
        al_asprintf("100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,%.3950s", deep);
    git_ok(w->repo, "update-index", "--add", "--cacheinfo", entry,
           NULL); /* a name over its field */
    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    assert_false(may_have_gitlinks(w));
}

static void understands_extended_entries_and_other_ids(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *path = tmpdir_path(w->repo, "sha256");
    al_auto(al_freep) char *entry = NULL;

    tmpdir_write(w->repo, "later", "x\n");
    git_ok(w->repo, "add", "-N", "later", NULL); /* version 3 */
    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "init", "-q", "--object-format=sha256", path, NULL);
    tmpdir_write(w->repo, "sha256/link", "x\n");
    tmpdir_write(w->repo, "sha256/other", "x\n");
    git_ok(w->repo, "-C", path, "add", ".", NULL);
    assert_false(may_have_gitlinks_in(w, "repo/sha256"));
    entry = al_asprintf("160000,%064d,sub", 1);
    git_ok(w->repo, "-C", path, "update-index", "--add", "--cacheinfo", entry, NULL);
    assert_true(may_have_gitlinks_in(w, "repo/sha256"));
}

/* A hostile index costs a look at its bytes, and is trusted in nothing. */
static void suspects_what_is_no_index(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *good = al_malloc(PIECE_BYTES);
    al_auto(al_freep) char *path = tmpdir_path(w->repo, ".git/index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t len = read(fd, good, PIECE_BYTES);

    assert_true(len > 100);
    assert_false(al_repo_index_facts(&repo->at).gitlinks);
    for (ssize_t cut = 0; cut < 12 + 62; cut++) { /* less than its one entry */
        tmpdir_write_bytes(w->repo, ".git/index", good, (size_t)cut);
        assert_true(al_repo_index_facts(&repo->at).gitlinks);
    }
    memset(good + 8, 0xff, 4); /* more entries than there are bytes */
    tmpdir_write_bytes(w->repo, ".git/index", good, (size_t)len);
    assert_true(al_repo_index_facts(&repo->at).gitlinks);
    assert_int_equal(truncate(path, INT64_C(1) << 40), 0); /* bytes nobody wrote */
    assert_true(al_repo_index_facts(&repo->at).gitlinks);
}

/* Cuts the index to nothing and makes it long again, over and over. */
static void *shrink_and_grow(void *path)
{
    for (int i = 0; i < 500; i++) {
        assert_int_equal(truncate(path, 0), 0);
        assert_int_equal(truncate(path, 8 * PIECE_BYTES), 0);
    }
    return NULL;
}

static void survives_an_index_that_shrinks(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *path = tmpdir_path(w->repo, ".git/index");
    pthread_t thread;
    char hex[65];
    int r;

    assert_int_equal(pthread_create(&thread, NULL, shrink_and_grow, path), 0);
    for (int i = 0; i < 200; i++) {
        (void)al_repo_index_facts(&repo->at).gitlinks;
        r = al_repo_state_digest(repo, NULL, NULL, hex, NULL);
        assert_true(r == 0 || r == AL_ERR_EXECUTION); /* it shrinks while it is read */
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(al_repo_index_facts(&repo->at).gitlinks); /* all zero now, which is no index */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(finds_gitlinks_in_a_real_index),
        WORLD_TEST(suspects_an_index_it_cannot_see_all_of),
        WORLD_TEST(is_not_told_by_names_and_sizes),
        WORLD_TEST(understands_extended_entries_and_other_ids),
        WORLD_TEST(suspects_what_is_no_index),
        WORLD_TEST(survives_an_index_that_shrinks),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/index_scan", tests, NULL, NULL);
}
