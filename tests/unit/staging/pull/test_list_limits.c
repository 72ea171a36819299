// SPDX-License-Identifier: Apache-2.0
/* staging/base.c: how much of a commit is listed.  Compiled with small limits. */
#include "staging/base.h"
#include "tests/unit/git/lib.h"

_Static_assert(AL_TREE_ENTRIES_MAX == 12, "the trees below are made for it");
_Static_assert(AL_TREE_NAMES_MAX_BYTES == 200, "the names below are made for it");

/* Commit and list; gives the number of files, 0 for a commit that is too large. */
static size_t list(struct world *w)
{
    struct al_run_limits budget = long_budget();
    struct al_tree tree;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    size_t count;
    int r;

    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "x", NULL);
    repo = must_open(w, "repo");
    repo->at.budget = &budget;
    r = al_tree_read(&repo->at, false, "HEAD", "the commit", "take another", &tree, &w->err);
    count = tree.files.count;
    al_tree_clear(&tree);
    if (r == 0)
        return count;
    assert_int_equal(r, AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "more than 12 files and directories, more than 200 "
                                           "bytes of names, or directories more than 2 deep"));
    al_error_clear(&w->err);
    return 0;
}

/* The repository has a.txt; d and the files below it are added. */
static void limits_files_and_directories(void **state)
{
    struct world *w = *state;

    tmpdir_mkdir(w->repo, "d");
    for (int i = 0; i < 11; i++) {
        al_auto(al_freep) char *name = al_asprintf("d/%d", i);

        tmpdir_write(w->repo, name, "x");
        if (i >= 8)
            assert_int_equal(list(w), i < 10 ? (size_t)i + 2 : 0);
    }
}

static void limits_names(void **state)
{
    struct world *w = *state;

    for (int len = 194; len <= 196; len++) {
        al_auto(al_freep) char *name = al_calloc((size_t)len + 1, 1);

        memset(name, 'n', (size_t)len);
        tmpdir_write(w->repo, name, "x");
        assert_int_equal(list(w), len <= 195 ? 2 : 0);
        git_ok(w->repo, "rm", "-q", name, NULL);
    }
}

static void limits_depth(void **state)
{
    struct world *w = *state;

    tmpdir_mkdir(w->repo, "a");
    tmpdir_mkdir(w->repo, "a/b");
    tmpdir_write(w->repo, "a/b/c", "x");
    assert_int_equal(list(w), 2);
    tmpdir_mkdir(w->repo, "a/b/d");
    tmpdir_write(w->repo, "a/b/d/e", "x");
    assert_int_equal(list(w), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(limits_files_and_directories),
        WORLD_TEST(limits_names),
        WORLD_TEST(limits_depth),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/pull/list_limits", tests, NULL, NULL);
}
