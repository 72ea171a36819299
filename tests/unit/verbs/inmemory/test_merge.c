// SPDX-License-Identifier: Apache-2.0
/* verbs/inmemory/inmemory.c, attributes.c, scratch.c: a merge in memory gives the tree that git
 * merge gives, leaves no trace in the repository, and runs no program. */
#include "git/layer.h"
#include "git/plumbing/revision.h"
#include "tests/unit/git/lib.h"
#include "tests/unit/verbs/inmemory/memory_lib.h"

static int merge_names(struct world *w, const char *ours, const char *theirs,
                       struct al_merged *merged)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(memory_freep) struct al_inmemory *memory = must_open_memory(w, repo);
    al_auto(al_freep) char *one = id_of(w, ours), *other = id_of(w, theirs);

    al_error_clear(&w->err);
    return al_inmemory_merge(memory, one, other, merged, &w->err);
}

/* The tree of merging `theirs` into `ours` in memory is the one that git merge makes. */
static void assert_as_git(struct world *w, const char *ours, const char *theirs)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_freep) char *tree = NULL;

    assert_worked(w, merge_names(w, ours, theirs, &merged));
    assert_false(merged.conflicted);
    assert_int_equal(merged.files.count, 0);
    git_ok(w->repo, "checkout", "-q", "--detach", ours, NULL);
    git_ok(w->repo, "merge", "-q", "--no-edit", "--no-ff", theirs, NULL);
    tree = id_of(w, "HEAD^{tree}");
    assert_string_equal(merged.tree, tree);
}

static void gives_the_tree_of_git(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "dir/long.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "long");
    branch_with(w, "theirs", "main", "dir/long.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    git_ok(w->repo, "checkout", "-q", "-b", "ours", "main", NULL);
    git_ok(w->repo, "mv", "dir/long.txt", "moved.txt", NULL);
    git_fixture_commit(w->repo, "new.txt", "new\n", "move");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    assert_as_git(w, "ours", "theirs");
    assert_as_git(w, "theirs", "ours");
}

/* Two merge bases: git makes one of them. */
static void several_bases_become_one(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "long");
    branch_with(w, "ours", "main", "a.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    branch_with(w, "theirs", "main", "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    git_ok(w->repo, "merge", "-q", "--no-edit", "ours^0", NULL);
    git_ok(w->repo, "checkout", "-q", "ours", NULL);
    git_ok(w->repo, "merge", "-q", "--no-edit", "theirs^1", NULL);
    git_fixture_commit(w->repo, "a.txt", "one\n2\n3\n4\nfive\n6\n7\n8\nnine\n", "ours again");
    git_ok(w->repo, "checkout", "-q", "theirs", NULL);
    git_fixture_commit(w->repo, "b.txt", "b\n", "theirs again");
    assert_as_git(w, "ours", "theirs");
}

/* The attributes are those of our side, whatever is checked out. */
static void goes_by_the_attributes_of_our_side(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "sub/list", "a\n", "list");
    branch_with(w, "ours", "main", "sub/list", "a\nours\n");
    git_fixture_commit(w->repo, "sub/.gitattributes", "list merge=union\n", "union");
    branch_with(w, "theirs", "main", "sub/list", "a\ntheirs\n");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    assert_as_git(w, "ours", "theirs");
}

/* One memory has many merges, as a replay does; the attributes change between them and back. */
static void goes_by_the_attributes_of_each_merge(void **state)
{
    static const struct {
        const char *ours;
        bool conflicted;
    } rows[] = { { "ours", true },  { "union", false }, { "beside", false }, { "ours", true },
                 { "other", true }, { "union", false }, { "text", true } };
    struct world *w = *state;
    al_auto(al_freep) char *theirs = NULL;

    git_fixture_commit(w->repo, "sub/list", "a\n", "list");
    branch_with(w, "ours", "main", "sub/list", "a\nours\n");
    branch_with(w, "other", "ours", "sub/a.gitattributes", "list merge=union\n");
    branch_with(w, "union", "ours", "sub/.gitattributes", "list merge=union\n");
    branch_with(w, "beside", "union", "sub/beside", "has the same attributes\n");
    branch_with(w, "text", "union", "sub/.gitattributes", "list merge=text\n");
    branch_with(w, "theirs", "main", "sub/list", "a\ntheirs\n");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    theirs = id_of(w, "theirs");
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(memory_freep) struct al_inmemory *memory = must_open_memory(w, repo);
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
        al_auto(al_freep) char *ours = id_of(w, rows[i].ours);

        assert_worked(w, al_inmemory_merge(memory, ours, theirs, &merged, &w->err));
        assert_int_equal(merged.conflicted, rows[i].conflicted);
    }
}

static void other_attributes_do_not_count(void **state)
{
    struct world *w = *state;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;

    branch_with(w, "ours", "main", "a.txt", "ours\n");
    branch_with(w, "theirs", "main", "a.txt", "theirs\n");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    tmpdir_write(w->repo, ".gitattributes", "a.txt merge=union\n");
    assert_worked(w, merge_names(w, "ours", "theirs", &merged));
    assert_true(merged.conflicted);
}

static const struct al_conflict *find(const struct al_merged *merged, const char *path)
{
    for (size_t i = 0; i < merged->files.count; i++)
        if (!strcmp(merged->files.items[i].path, path))
            return &merged->files.items[i];
    return NULL;
}

static void assert_kind(const struct al_merged *merged, const char *path, const char *kind)
{
    const struct al_conflict *conflict = find(merged, path);

    assert_non_null(conflict);
    assert_string_equal(al_merge_conflict_kind(conflict), kind);
}

static void lists_conflicts_with_their_kinds(void **state)
{
    struct world *w = *state;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    const struct al_conflict *gone;

    git_fixture_commit(w->repo, "tab\tand\n\"line", "1\n", "odd");
    git_fixture_commit(w->repo, "gone", "1\n", "gone");
    branch_with(w, "ours", "main", "a.txt", "ours\n");
    git_fixture_commit(w->repo, "tab\tand\n\"line", "ours\n", "odd");
    git_fixture_commit(w->repo, "gone", "ours\n", "gone");
    git_fixture_commit(w->repo, "both", "ours\n", "both");
    branch_with(w, "theirs", "main", "a.txt", "theirs\n");
    git_fixture_commit(w->repo, "tab\tand\n\"line", "theirs\n", "odd");
    git_ok(w->repo, "rm", "-q", "gone", NULL);
    git_fixture_commit(w->repo, "both", "theirs\n", "both");
    assert_worked(w, merge_names(w, "ours", "theirs", &merged));
    assert_true(merged.conflicted);
    assert_int_equal(merged.files.count, 4);
    assert_kind(&merged, "a.txt", "contents");
    assert_kind(&merged, "both", "contents");
    assert_kind(&merged, "tab\tand\n\"line", "contents");
    assert_kind(&merged, "gone", "modify/delete");
    gone = find(&merged, "gone");
    assert_int_equal(gone->sides[AL_STAGE_BASE].mode, 0100644);
    assert_int_equal(gone->sides[AL_STAGE_OURS].mode, 0100644);
    assert_null(gone->sides[AL_STAGE_THEIRS].oid);
    al_conflicts_add_paths(&merged.files, &paths);
    assert_string_equal(paths.items[0], "a.txt");
    assert_string_equal(paths.items[3], "tab\tand\n\"line");
}

static void a_given_base_is_the_base(void **state)
{
    struct world *w = *state;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(memory_freep) struct al_inmemory *memory = NULL;
    al_auto(al_freep) char *base = NULL, *ours = NULL, *theirs = NULL, *tree = NULL;

    branch_with(w, "topic", "main", "b.txt", "not picked\n");
    git_fixture_commit(w->repo, "c.txt", "picked\n", "picked");
    branch_with(w, "other", "main", "d.txt", "d\n");
    repo = must_open(w, "repo");
    memory = must_open_memory(w, repo);
    base = id_of(w, "topic^^{tree}");
    ours = id_of(w, "other^{tree}");
    theirs = id_of(w, "topic^{tree}");
    assert_worked(
        w, al_inmemory_merge_trees(
               memory,
               (const char *[AL_STAGES]){
                   [AL_STAGE_BASE] = base, [AL_STAGE_OURS] = ours, [AL_STAGE_THEIRS] = theirs },
               &merged, &w->err));
    assert_false(merged.conflicted);
    git_ok(w->repo, "cherry-pick", "topic", NULL);
    tree = id_of(w, "HEAD^{tree}");
    assert_string_equal(merged.tree, tree);
    al_merged_clear(&merged);
    /* Sides that are the same, and nothing as the base */
    assert_worked(w, al_inmemory_merge_trees(
                         memory,
                         (const char *[AL_STAGES]){ [AL_STAGE_BASE] = al_git_empty_tree(repo),
                                                    [AL_STAGE_OURS] = ours,
                                                    [AL_STAGE_THEIRS] = ours },
                         &merged, &w->err));
    assert_false(merged.conflicted);
}

static char *objects_of(const struct world *w)
{
    return git_output(w->repo, "cat-file", "--batch-all-objects", "--batch-check", NULL);
}

static void the_repository_gets_nothing(void **state)
{
    struct world *w = *state;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_freep) char *tree = NULL, *objects = NULL, *tree_after = NULL, *after = NULL;
    al_auto(al_freep) char *tmp = al_fs_join(w->git->private_dir, "tmp");

    branch_with(w, "ours", "main", "a.txt", "ours\n");
    branch_with(w, "theirs", "main", "a.txt", "theirs\n");
    tmpdir_write(w->repo, "untracked", "x");
    tree = tree_text(w->repo);
    objects = objects_of(w);
    assert_worked(w, merge_names(w, "ours", "theirs", &merged));
    assert_true(merged.conflicted);
    after = objects_of(w);
    assert_string_equal(objects, after);
    tree_after = tree_text(w->repo);
    assert_same_tree(tree, tree_after);
    assert_int_equal(rmdir(tmp), 0); /* nothing is left there either */
    assert_int_equal(mkdir(tmp, 0700), 0);
}

static void unrelated_histories_are_refused(void **state)
{
    struct world *w = *state;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;

    git_ok(w->repo, "checkout", "-q", "--orphan", "other", NULL);
    git_fixture_commit(w->repo, "o.txt", "o\n", "orphan");
    assert_int_equal(merge_names(w, "main", "other", &merged), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "unrelated histories"));
}

/* A driver that leaves its name.  Plain git runs it. */
static void a_merge_driver_is_refused(void **state)
{
    struct world *w = *state;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_freep) char *canary = tmpdir_path(w->outside, "canary");
    al_auto(al_freep) char *driver = al_asprintf("touch %s; false", canary);

    git_fixture_commit(w->repo, ".gitattributes", "a.txt merge=mine\n", "attributes");
    branch_with(w, "ours", "main", "a.txt", "ours\n");
    branch_with(w, "theirs", "main", "a.txt", "theirs\n");
    git_ok(w->repo, "config", "merge.mine.driver", driver, NULL);
    assert_int_equal(git_status_of(w->repo, "merge", "-q", "ours", NULL), 1);
    assert_int_equal(unlink(canary), 0);
    git_ok(w->repo, "merge", "--abort", NULL);
    assert_int_equal(merge_names(w, "ours", "theirs", &merged), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "'a.txt' goes through the merge driver 'mine'"));
    assert_int_equal(access(canary, F_OK), -1);
    /* What the driver is not for is merged. */
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    branch_with(w, "fine", "main", "b.txt", "b\n");
    branch_with(w, "too", "main", "c.txt", "c\n");
    assert_worked(w, merge_names(w, "fine", "too", &merged));
}

static void a_cancelled_merge_ends(void **state)
{
    struct world *w = *state;
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(memory_freep) struct al_inmemory *memory = must_open_memory(w, repo);
    al_auto(al_freep) char *id = id_of(w, "main");
    struct al_cancel *cancel = al_cancel_new();

    assert_non_null(cancel);
    w->budget.cancel = cancel;
    al_cancel_fire(cancel);
    assert_int_equal(al_inmemory_merge(memory, id, id, &merged, &w->err), AL_ERR_CANCELLED);
    al_cancel_unref(cancel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(gives_the_tree_of_git),
        WORLD_TEST(several_bases_become_one),
        WORLD_TEST(goes_by_the_attributes_of_our_side),
        WORLD_TEST(goes_by_the_attributes_of_each_merge),
        WORLD_TEST(other_attributes_do_not_count),
        WORLD_TEST(lists_conflicts_with_their_kinds),
        WORLD_TEST(a_given_base_is_the_base),
        WORLD_TEST(the_repository_gets_nothing),
        WORLD_TEST(unrelated_histories_are_refused),
        WORLD_TEST(a_merge_driver_is_refused),
        WORLD_TEST(a_cancelled_merge_ends),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/inmemory/merge", tests, NULL, NULL);
}
