// SPDX-License-Identifier: Apache-2.0
/* verbs/inmemory/inmemory.c: the repository gets the objects that a commit needs, all of them and
 * no others, and they are what their ids say. */
#include "tests/unit/verbs/inmemory/memory_lib.h"

struct made {
    struct al_repo *repo;
    struct al_inmemory *memory;
    char *commit;
};

static void made_clear(struct made *made)
{
    al_inmemory_free(made->memory);
    al_repo_free(made->repo);
    free(made->commit);
}

/* A merge commit in memory. */
static void make(struct world *w, const char *ours, const char *theirs, struct made *made)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;

    made->repo = must_open(w, "repo");
    made->memory = must_open_memory(w, made->repo);
    al_strv_take(&parents, id_of(w, ours));
    al_strv_take(&parents, id_of(w, theirs));
    assert_worked(
        w, al_inmemory_merge(made->memory, parents.items[0], parents.items[1], &merged, &w->err));
    assert_worked(w, al_inmemory_commit(made->memory,
                                        &(struct al_new_commit){ .tree = merged.tree,
                                                                 .parents = &parents,
                                                                 .message = "merged\n" },
                                        &made->commit, &w->err));
}

static int accept(struct world *w, struct made *made)
{

    al_error_clear(&w->err);
    return al_inmemory_accept(made->memory, made->commit, &w->err);
}

static size_t count_objects(const struct world *w)
{
    al_auto(al_freep) char *text =
        git_output(w->repo, "cat-file", "--batch-all-objects", "--batch-check", NULL);
    size_t count = 0;

    for (const char *at = text; *at; at++)
        count += *at == '\n';
    return count;
}

static void brings_what_is_needed(void **state)
{
    struct world *w = *state;
    al_auto(made_clear) struct made made = { .repo = NULL };
    size_t before;

    branch_with(w, "ours", "main", "b.txt", "b\n");
    branch_with(w, "theirs", "main", "c.txt", "c\n");
    make(w, "ours", "theirs", &made);
    before = count_objects(w);
    assert_int_equal(git_status_of(w->repo, "cat-file", "-e", made.commit, NULL), 1);
    assert_worked(w, accept(w, &made));
    assert_int_equal(count_objects(w), before + 2); /* the commit and its tree */
    assert_worked(w, accept(w, &made));
    assert_int_equal(count_objects(w), before + 2);
    git_ok(w->repo, "update-ref", "refs/heads/main", made.commit, NULL);
    git_ok(w->repo, "fsck", "--strict", "--no-dangling", NULL);
}

/* Others that were written stay behind: those of merges that were only tried. */
static void brings_nothing_else(void **state)
{
    struct world *w = *state;
    al_auto(made_clear) struct made made = { .repo = NULL };
    al_auto(al_merged_clear) struct al_merged tried = AL_MERGED_INIT;
    al_auto(al_freep) char *other = NULL, *ours = NULL;
    size_t before;

    branch_with(w, "ours", "main", "b.txt", "b\n");
    branch_with(w, "theirs", "main", "c.txt", "c\n");
    branch_with(w, "other", "main", "b.txt", "conflict\n");
    make(w, "ours", "theirs", &made);
    other = id_of(w, "other");
    ours = id_of(w, "ours");
    assert_worked(w, al_inmemory_merge(made.memory, ours, other, &tried, &w->err));
    assert_true(tried.conflicted);
    before = count_objects(w);
    assert_worked(w, accept(w, &made));
    assert_int_equal(count_objects(w), before + 2);
    assert_int_equal(git_status_of(w->repo, "cat-file", "-e", tried.tree, NULL), 1);
}

/* Both ways: unpacked, and as a pack. */
static void many_objects_come_as_a_pack(void **state)
{
    struct world *w = *state;
    al_auto(made_clear) struct made made = { .repo = NULL };
    size_t before;

    git_ok(w->repo, "checkout", "-q", "-b", "ours", NULL);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 110; i++) {
            al_auto(al_freep) char *name = al_asprintf("d%d/%s.txt", i, side ? "theirs" : "ours");

            tmpdir_write(w->repo, name, name);
        }
        git_ok(w->repo, "add", ".", NULL);
        git_ok(w->repo, "commit", "-q", "-m", "many", NULL);
        if (!side)
            git_ok(w->repo, "checkout", "-q", "-b", "theirs", "main", NULL);
    }
    make(w, "ours", "theirs", &made);
    before = count_objects(w);
    assert_worked(w, accept(w, &made));
    assert_int_equal(count_objects(w), before + 112);
    git_ok(w->repo, "update-ref", "refs/heads/main", made.commit, NULL);
    git_ok(w->repo, "fsck", "--strict", "--no-dangling", NULL);
}

/* An object of that id with another content is in the repository already: git would keep it. */
static void a_forged_object_is_found(void **state)
{
    struct world *w = *state;
    al_auto(made_clear) struct made made = { .repo = NULL };
    al_auto(al_freep) char *forged = NULL, *dir = NULL, *to = NULL, *from = NULL, *other = NULL;

    branch_with(w, "ours", "main", "b.txt", "b\n");
    branch_with(w, "theirs", "main", "c.txt", "c\n");
    make(w, "ours", "theirs", &made);
    other = id_of(w, "ours");
    from = al_asprintf(".git/objects/%.2s/%s", other, other + 2);
    forged = tmpdir_path(w->repo, from);
    dir = al_asprintf("%s/.git/objects/%.2s", w->repo->path, made.commit);
    (void)mkdir(dir, 0700);
    to = al_asprintf("%s/%s", dir, made.commit + 2);
    assert_int_equal(link(forged, to), 0);
    assert_int_equal(accept(w, &made), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "other content than its id says"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(brings_what_is_needed),
        WORLD_TEST(brings_nothing_else),
        WORLD_TEST(many_objects_come_as_a_pack),
        WORLD_TEST(a_forged_object_is_found),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/inmemory/accept", tests, NULL, NULL);
}
