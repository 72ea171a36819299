// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/loose_object.h: what git has not packed, read without git. */
#include "gitops/plumbing/loose_object.h"

#include "tests/unit/gitops/tree.h"

static char *rev(struct world *w, const char *name)
{
    char *oid = git_output(w->repo, "rev-parse", name, NULL);

    oid[strcspn(oid, "\n")] = '\0';
    return oid;
}

/* The parents of a commit, each with a space in front; NULL: they are not known. */
static char *parents_of(struct world *w, const char *name)
{
    al_auto(subdir_closep) struct tmpdir *git_dir = subdir_open(w->repo, ".git");
    al_auto(al_freep) char *oid = rev(w, name);
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    struct al_str text = AL_STR_INIT;

    if (!al_loose_object_parents(git_dir->fd, oid, false, &parents)) {
        assert_int_equal(parents.count, 0);
        return NULL;
    }
    for (size_t i = 0; i < parents.count; i++)
        al_str_addf(&text, " %s", parents.items[i]);
    return al_str_detach(&text);
}

static void assert_parents(struct world *w, const char *name)
{
    al_auto(al_freep) char *expected = git_output(w->repo, "log", "-1", "--format=%P", name, NULL);
    al_auto(al_freep) char *found = parents_of(w, name);

    expected[strcspn(expected, "\n")] = '\0';
    assert_non_null(found);
    assert_string_equal(*found ? found + 1 : found, expected);
}

static void finds_the_parents_of_a_commit(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "checkout", "-q", "-b", "side", NULL);
    git_fixture_commit(w->repo, "side.txt", "side\n", "side");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "main.txt", "main\n", "parent 1\n\nparent 2");
    git_ok(w->repo, "merge", "-q", "--no-ff", "-m", "merge", "side", NULL);
    assert_parents(w, "HEAD");
    assert_parents(w, "side");
    assert_parents(w, "main~1");
    git_ok(w->repo, "checkout", "-q", "--orphan", "root", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "parent 0123", NULL);
    assert_parents(w, "root");
}

static void knows_no_other_object(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *git_dir = subdir_open(w->repo, ".git");
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;

    assert_null(parents_of(w, "HEAD^{tree}"));
    assert_null(parents_of(w, "HEAD:a.txt"));
    assert_false(al_loose_object_parents(git_dir->fd, "", false, &parents));
    assert_false(al_loose_object_parents(git_dir->fd, "1111111111111111111111111111111111111111",
                                         false, &parents));
    git_ok(w->repo, "gc", "-q", NULL);
    assert_null(parents_of(w, "HEAD"));
}

static void reads_each_type(void **state)
{
    static const struct {
        const char *name, *type;
        enum al_object_type expected;
    } rows[] = { { "HEAD", "commit", AL_OBJECT_COMMIT },
                 { "HEAD^{tree}", "tree", AL_OBJECT_TREE },
                 { "HEAD:a.txt", "blob", AL_OBJECT_BLOB } };
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *git_dir = subdir_open(w->repo, ".git");

    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
        al_auto(al_freep) char *text = rev(w, rows[i].name);
        al_auto(al_freep) char *size = git_output(w->repo, "cat-file", "-s", text, NULL);
        struct al_oid oid;

        assert_true(al_oid_parse(text, false, &oid));
        assert_true(al_loose_object_read(git_dir->fd, &oid, false, AL_LOOSE_MAX_BYTES, &object));
        assert_int_equal(object.type, rows[i].expected);
        assert_int_equal(object.len, strtoul(size, NULL, 10));
        assert_int_equal(object.data[object.len], '\0');
        al_loose_object_clear(&object);
        assert_true(
            al_loose_object_read(git_dir->fd, &oid, false, strtoul(size, NULL, 10), &object));
        al_loose_object_clear(&object);
        assert_false(
            al_loose_object_read(git_dir->fd, &oid, false, strtoul(size, NULL, 10) - 1, &object));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(finds_the_parents_of_a_commit),
        WORLD_TEST(knows_no_other_object),
        WORLD_TEST(reads_each_type),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/loose_object", tests, NULL, NULL);
}
