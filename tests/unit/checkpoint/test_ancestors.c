// SPDX-License-Identifier: Apache-2.0
/* checkpoint/ancestors.h: what new commits descend from, told without git. */
#include "checkpoint/ancestors.h"

#include "tests/unit/checkpoint/lib.h"

static char *rev(struct saver *s, const char *name)
{
    char *oid = git_output(s->w->repo, "rev-parse", name, NULL);

    oid[strcspn(oid, "\n")] = '\0';
    return oid;
}

/* How many of the wanted commits are found. */
static size_t found(struct saver *s, const char *from, const char *const *wanted, size_t count)
{
    al_auto(subdir_closep) struct tmpdir *git_dir = subdir_open(s->w->repo, ".git");
    al_auto(al_strv_clear) struct al_strv starts = AL_STRV_INIT;
    al_auto(al_oid_set_clear) struct al_oid_set want = { .count = 0 };
    al_auto(al_oid_set_clear) struct al_oid_set set = { .count = 0 };

    al_strv_take(&starts, rev(s, from));
    for (size_t i = 0; i < count; i++) {
        al_auto(al_freep) char *text = rev(s, wanted[i]);
        struct al_oid oid;

        assert_true(al_oid_parse(text, s->store->sha256, &oid));
        (void)al_oid_set_add(&want, &oid);
    }
    al_ancestors_find(git_dir->fd, s->store->sha256, &starts, &want, &set);
    return set.count;
}

static void finds_ancestors_on_all_sides(void **state)
{
    static const char *const all[] = { "HEAD", "HEAD~", "side", "side~", "other" };
    struct saver *s = *state;

    git_ok(s->w->repo, "switch", "-q", "-c", "other", NULL);
    git_fixture_commit(s->w->repo, "other.txt", "other\n", "other");
    git_ok(s->w->repo, "switch", "-q", "-c", "side", "main", NULL);
    git_fixture_commit(s->w->repo, "one.txt", "one\n", "one");
    git_fixture_commit(s->w->repo, "two.txt", "two\n", "two");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    git_fixture_commit(s->w->repo, "main.txt", "main\n", "main");
    git_ok(s->w->repo, "merge", "-q", "--no-ff", "-m", "merge", "side", NULL);
    assert_int_equal(found(s, "HEAD", all, 4), 4);
    assert_int_equal(found(s, "HEAD", all, 5), 4);
    assert_int_equal(found(s, "HEAD", all + 4, 1), 0);
    assert_int_equal(found(s, "side", all, 2), 0); /* these descend from it */
    assert_int_equal(found(s, "other", all + 4, 1), 1);
    git_ok(s->w->repo, "gc", "-q", NULL);
    assert_int_equal(found(s, "HEAD", all, 4), 1); /* itself: packed commits are not read */
}

static void reads_so_many_commits(void **state)
{
    struct saver *s = *state;

    for (size_t i = 0; i <= AL_ANCESTORS_MAX; i++)
        git_ok(s->w->repo, "commit", "-q", "--allow-empty", "-m", "more", NULL);
    for (size_t i = AL_ANCESTORS_MAX - 1; i <= AL_ANCESTORS_MAX + 1; i++) {
        al_auto(al_freep) char *name = al_asprintf("HEAD~%zu", i);
        const char *const wanted[] = { name };

        assert_int_equal(found(s, "HEAD", wanted, 1), i <= AL_ANCESTORS_MAX);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(finds_ancestors_on_all_sides),
        SAVER_TEST(reads_so_many_commits),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/ancestors", tests, NULL, NULL);
}
