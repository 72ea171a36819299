// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/merge_base.h: it is the merge base that git finds, whatever the dates are. */
#include "gitops/plumbing/merge_base.h"

#include <stdlib.h>
#include <unistd.h>

#include "gitops/vet/vet.h"
#include "tests/unit/gitops/tree.h"

#define COMMITS 24u

static void cut_line(char *text)
{
    text[strcspn(text, "\n")] = '\0';
}

/* A commit with these parents (NULL: fewer). */
static char *commit(struct world *w, unsigned date, const char *one, const char *other)
{
    al_auto(al_freep) char *when = al_asprintf("@%u +0000", date);
    const char *const tree = "HEAD^{tree}";
    char *oid;

    setenv("GIT_COMMITTER_DATE", when, 1);
    if (!one)
        oid = git_output(w->repo, "commit-tree", "-m", when, tree, NULL);
    else if (!other)
        oid = git_output(w->repo, "commit-tree", "-m", when, "-p", one, tree, NULL);
    else
        oid = git_output(w->repo, "commit-tree", "-m", when, "-p", one, "-p", other, tree, NULL);
    unsetenv("GIT_COMMITTER_DATE");
    cut_line(oid);
    return oid;
}

static char *find(struct world *w, const char *one, const char *other)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_object_reader_clear) struct al_object_reader reader = AL_OBJECT_READER_INIT;

    assert_true(al_object_reader_open(&reader, &repo->at, repo->vetting->is_sha256));
    return al_merge_base(&reader, one, other);
}

/* Where git finds one, it is this one.  `must`: and it is found. */
static void assert_as_git(struct world *w, const char *one, const char *other, bool must)
{
    al_auto(al_freep) char *expected = git_output(w->repo, "merge-base", "--all", one, other, NULL);
    al_auto(al_freep) char *found = find(w, one, other);
    char *line_end = expected ? strchr(expected, '\n') : NULL;
    bool single = line_end && !line_end[1];

    if (!single) {
        assert_null(found);
        return;
    }
    cut_line(expected);
    if (must)
        assert_non_null(found);
    if (found)
        assert_string_equal(found, expected);
}

static void assert_random_history(struct world *w, unsigned seed, bool dates_are_right)
{
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;

    srandom(seed);
    for (unsigned i = 0; i < COMMITS; i++) {
        unsigned near = i < 6 ? i : 6;
        unsigned one = near ? i - 1 - (unsigned)random() % near : 0;
        unsigned other = near ? i - 1 - (unsigned)random() % near : 0;
        unsigned date = 1000000000 + (dates_are_right ? i : (unsigned)random() % 40);

        al_strv_take(&all,
                     commit(w, date, near ? all.items[one] : NULL,
                            near && one != other && random() % 3 == 0 ? all.items[other] : NULL));
    }
    for (unsigned i = 0; i < COMMITS; i++)
        assert_as_git(w, all.items[(unsigned)random() % COMMITS],
                      all.items[(unsigned)random() % COMMITS], dates_are_right);
}

static void finds_what_git_finds(void **state)
{
    for (unsigned seed = 1; seed <= 3; seed++)
        assert_random_history(*state, seed, true);
}

static void is_not_misled_by_dates(void **state)
{
    for (unsigned seed = 11; seed <= 13; seed++)
        assert_random_history(*state, seed, false);
}

static void leaves_several_and_none_to_git(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *root = commit(w, 1000000000, NULL, NULL);
    al_auto(al_freep) char *other_root = commit(w, 1000000001, NULL, NULL);
    al_auto(al_freep) char *one = commit(w, 1000000002, root, NULL);
    al_auto(al_freep) char *two = commit(w, 1000000003, root, NULL);
    al_auto(al_freep) char *cross = commit(w, 1000000004, one, two);
    al_auto(al_freep) char *crossed = commit(w, 1000000005, two, one);
    al_auto(al_freep) char *several = find(w, cross, crossed);
    al_auto(al_freep) char *none = find(w, one, other_root);
    al_auto(al_freep) char *self = find(w, cross, cross);
    al_auto(al_freep) char *no_commit = find(w, cross, "0123456789012345678901234567890123456789");
    al_auto(al_freep) char *no_id = find(w, "HEAD", cross);

    assert_null(several);
    assert_null(none);
    assert_string_equal(self, cross);
    assert_null(no_commit);
    assert_null(no_id);
}

/* The base and what is on both sides are read. */
static void reads_so_many_commits(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *base = commit(w, 1000000000, NULL, NULL);
    al_auto(al_freep) char *side = commit(w, 1000000500, base, NULL);
    al_auto(al_freep) char *tip = al_strdup(base);

    for (unsigned count = 3; count <= AL_MERGE_BASE_COMMITS_MAX + 1; count++) {
        char *following = commit(w, 1000000000 + count, tip, NULL);

        free(tip);
        tip = following;
        if (count + 1 >= AL_MERGE_BASE_COMMITS_MAX) {
            al_auto(al_freep) char *found = find(w, tip, side);

            assert_int_equal(found != NULL, count <= AL_MERGE_BASE_COMMITS_MAX);
            if (found)
                assert_string_equal(found, base);
        }
    }
}

static void believes_no_cut_history(void **state)
{
    static const char *const names[] = { ".git/shallow", ".git/info/grafts" };
    struct world *w = *state;
    al_auto(al_freep) char *base = commit(w, 1000000000, NULL, NULL);
    al_auto(al_freep) char *tip = commit(w, 1000000001, base, NULL);

    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_freep) char *path = tmpdir_path(w->repo, names[i]);
        al_auto(al_freep) char *found = NULL;
        al_auto(al_freep) char *again = NULL;

        tmpdir_write(w->repo, names[i], "");
        found = find(w, base, tip);
        assert_null(found);
        assert_int_equal(unlink(path), 0);
        again = find(w, base, tip);
        assert_string_equal(again, base);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(finds_what_git_finds),           WORLD_TEST(is_not_misled_by_dates),
        WORLD_TEST(leaves_several_and_none_to_git), WORLD_TEST(reads_so_many_commits),
        WORLD_TEST(believes_no_cut_history),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/merge_base", tests, NULL, NULL);
}
