// SPDX-License-Identifier: Apache-2.0
/* history/keep.h: the store has what a repository lost and then pruned. */
#include "history/keep.h"

#include <sys/resource.h>

#include "git/failure.h"
#include "git/plumbing/snapshot.h"
#include "tests/unit/history/checkpoint_lib.h"

static char *rev(struct saver *s, const char *name)
{
    char *oid = git_output(s->w->repo, "rev-parse", name, NULL);

    oid[strcspn(oid, "\n")] = '\0';
    return oid;
}

/* Make git forget everything it can. */
static void forget(struct saver *s)
{
    git_ok(s->w->repo, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all",
           NULL);
    git_ok(s->w->repo, "gc", "-q", "--prune=now", NULL);
}

/* Assert that the repository lost the commit, and that the store has it with its files. */
static void assert_kept(struct saver *s, const char *oid, const char *file, const char *content)
{
    al_auto(al_freep) char *path = al_asprintf("%s:%s", oid, file);
    al_auto(al_freep) char *found = NULL;

    assert_int_not_equal(git_status_of(s->w->repo, "cat-file", "-e", oid, NULL), 0);
    found = store_git(s, "cat-file", "blob", path);
    assert_string_equal(found, content);
}

static void keeps_a_stash_that_is_dropped(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *first = NULL;
    al_auto(al_freep) char *second = NULL;

    tmpdir_write(s->w->repo, "a.txt", "stashed once\n");
    git_ok(s->w->repo, "stash", "push", "-q", NULL);
    first = rev(s, "stash@{0}");
    tmpdir_write(s->w->repo, "a.txt", "stashed twice\n");
    git_ok(s->w->repo, "stash", "push", "-q", NULL);
    second = rev(s, "stash@{0}");
    take(s, NULL);
    git_ok(s->w->repo, "stash", "clear", NULL);
    forget(s);
    assert_kept(s, first, "a.txt", "stashed once\n");
    assert_kept(s, second, "a.txt", "stashed twice\n");
}

/* Create a branch with a commit that nothing else reaches.  HEAD is on main. */
static char *make_side(struct saver *s)
{
    char *oid;

    git_ok(s->w->repo, "switch", "-q", "-c", "side", NULL);
    git_fixture_commit(s->w->repo, "side.txt", "side\n", "side");
    oid = rev(s, "side");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    return oid;
}

static void keeps_a_branch_before_it_is_dropped(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *side = make_side(s);
    al_auto(al_strv_clear) struct al_strv dropping = AL_STRV_INIT;

    al_strv_add(&dropping, "refs/heads/side");
    assert_int_equal(try_take(s, NULL, &dropping), 0);
    git_ok(s->w->repo, "branch", "-q", "-D", "side", NULL);
    forget(s); /* airlock died before its checkpoint after */
    assert_kept(s, side, "side.txt", "side\n");
}

static void keeps_a_branch_that_is_found_missing(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *side = make_side(s);

    take(s, NULL);
    git_ok(s->w->repo, "branch", "-q", "-D", "side", NULL);
    take(s, NULL);
    forget(s);
    assert_kept(s, side, "side.txt", "side\n");
}

static void keeps_what_a_branch_was_moved_from(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *old = NULL;

    git_fixture_commit(s->w->repo, "b.txt", "first try\n", "try");
    old = rev(s, "HEAD");
    take(s, NULL);
    tmpdir_write(s->w->repo, "b.txt", "second try\n");
    git_ok(s->w->repo, "commit", "-q", "-a", "--amend", "-m", "again", NULL);
    take(s, NULL);
    forget(s);
    assert_kept(s, old, "b.txt", "first try\n");
}

static void keeps_a_detached_head_that_is_left(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *lost = NULL;

    git_ok(s->w->repo, "switch", "-q", "--detach", NULL);
    git_fixture_commit(s->w->repo, "d.txt", "detached\n", "detached");
    lost = rev(s, "HEAD");
    take(s, NULL);
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    forget(s);
    assert_kept(s, lost, "d.txt", "detached\n");
}

/* The branches are lost one after the other.  The pack of each leaves out what the other reached.
 */
static void keeps_what_lost_branches_shared(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *one = make_side(s);
    al_auto(al_freep) char *two = NULL;

    git_ok(s->w->repo, "switch", "-q", "side", NULL);
    git_ok(s->w->repo, "switch", "-q", "-c", "two", NULL);
    git_fixture_commit(s->w->repo, "two.txt", "two\n", "two");
    two = rev(s, "two");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    take(s, NULL);
    git_ok(s->w->repo, "branch", "-q", "-D", "two", NULL);
    take(s, NULL);
    git_ok(s->w->repo, "branch", "-q", "-D", "side", NULL);
    take(s, NULL);
    forget(s);
    assert_kept(s, one, "side.txt", "side\n");
    assert_kept(s, two, "two.txt", "two\n");
    assert_kept(s, two, "side.txt", "side\n");
}

/* A reference that only moves forward loses nothing. */
static void keeps_nothing_that_is_still_there(void **state)
{
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *bare = NULL;
    al_auto(al_freep) char *packs = NULL;

    take(s, NULL);
    git_fixture_commit(s->w->repo, "b.txt", "more\n", "more");
    take(s, NULL);
    bare = store_open_bare(s);
    packs = git_output(bare, "-c", "alias.k=!ls objects/pack", "k", NULL);
    assert_null(strstr(packs, ".keep"));
}

/* A commit that a new one descends from is not packed, and still there when that one is lost. */
static void keeps_what_a_lost_branch_grew_from(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *first = make_side(s);
    al_auto(al_freep) char *second = NULL;

    take(s, NULL);
    git_ok(s->w->repo, "switch", "-q", "side", NULL);
    git_fixture_commit(s->w->repo, "more.txt", "more\n", "more");
    second = rev(s, "side");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    take(s, NULL);
    git_ok(s->w->repo, "branch", "-q", "-D", "side", NULL);
    take(s, NULL);
    forget(s);
    assert_kept(s, first, "side.txt", "side\n");
    assert_kept(s, second, "more.txt", "more\n");
}

/* ORIG_HEAD is a commit that a branch reaches, as long as the branch does. */
static void keeps_a_head_when_nothing_reaches_it_any_more(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *first = make_side(s);
    al_auto(al_freep) char *line = al_asprintf("%s\n", first);

    tmpdir_write(s->w->repo, ".git/ORIG_HEAD", line);
    take(s, NULL);
    git_ok(s->w->repo, "switch", "-q", "side", NULL);
    for (int i = 0; i < 3; i++) {
        git_ok(s->w->repo, "commit", "-q", "--allow-empty", "-m", "more", NULL);
        if (i == 1)
            git_ok(s->w->repo, "gc", "-q", NULL); /* what was found before still holds */
        tmpdir_write(s->w->repo, ".git/ORIG_HEAD", line);
        take(s, NULL);
    }
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    git_ok(s->w->repo, "branch", "-q", "-f", "side", "main", NULL);
    tmpdir_write(s->w->repo, ".git/ORIG_HEAD", line);
    take(s, NULL);
    assert_int_equal(unlinkat(s->w->repo->fd, ".git/ORIG_HEAD", 0), 0);
    forget(s);
    assert_kept(s, first, "side.txt", "side\n");
}

/* Give the repository a new history, as a clone at the same path has. */
static void begin_again(struct saver *s)
{
    git_ok(s->w->repo, "checkout", "-q", "--orphan", "new", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "new", NULL);
    git_ok(s->w->repo, "branch", "-q", "-D", "main", "side", NULL);
    forget(s);
}

/* The pack of the branch leaves out what main reached.  Nobody has that afterwards. */
static void lives_with_a_lost_commit_without_parents(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *lost = make_side(s);
    al_auto(al_freep) char *other = NULL;
    al_auto(al_strv_clear) struct al_strv dropping = AL_STRV_INIT;

    al_strv_add(&dropping, "refs/heads/side");
    assert_int_equal(try_take(s, NULL, &dropping), 0);
    take(s, NULL); /* side is there still */
    begin_again(s);
    git_ok(s->w->repo, "switch", "-q", "-c", "other", NULL);
    git_fixture_commit(s->w->repo, "other.txt", "other\n", "other");
    other = rev(s, "HEAD");
    git_ok(s->w->repo, "switch", "-q", "new", NULL);
    al_strv_add(&dropping, "refs/heads/other");
    assert_int_equal(try_take(s, NULL, &dropping), 0); /* what is whole is kept all the same */
    git_ok(s->w->repo, "branch", "-q", "-D", "other", NULL);
    take(s, NULL);
    forget(s);
    assert_kept(s, lost, "side.txt", "side\n");
    assert_kept(s, other, "other.txt", "other\n");
    take(s, NULL);
}

/* The parent of the stash is nowhere; what was stashed is. */
static void keeps_a_stash_without_parents(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *entry = NULL;
    al_auto(al_freep) char *parent = rev(s, "HEAD");
    al_auto(al_freep) char *path = al_asprintf(".git/objects/%.2s/%s", parent, parent + 2);

    tmpdir_write(s->w->repo, "a.txt", "stashed\n");
    git_ok(s->w->repo, "stash", "push", "-q", NULL);
    entry = rev(s, "stash@{0}");
    git_ok(s->w->repo, "checkout", "-q", "--orphan", "new", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "new", NULL);
    git_ok(s->w->repo, "branch", "-q", "-D", "main", NULL);
    assert_int_equal(unlinkat(s->w->repo->fd, path, 0), 0);
    take(s, NULL);
    git_ok(s->w->repo, "stash", "clear", NULL);
    forget(s);
    assert_kept(s, entry, "a.txt", "stashed\n");
}

/* Branches that stand on each other, with a head that a clean-up has removed: they share a pack. */
static void packs_together_what_is_there(void **state)
{
    struct saver *s = *state;
    al_auto(al_strv_clear) struct al_strv dropping = AL_STRV_INIT;
    al_auto(al_freep) char *last = make_side(s);
    al_auto(al_freep) char *packs = NULL;
    al_auto(subdir_closep) struct tmpdir *bare = NULL;

    al_strv_add(&dropping, "refs/heads/side");
    for (int i = 0; i < 5; i++) {
        al_auto(al_freep) char *name = al_asprintf("side%d", i);

        git_ok(s->w->repo, "switch", "-q", "-c", name, i ? "-" : "side", NULL);
        git_ok(s->w->repo, "commit", "-q", "--allow-empty", "-m", name, NULL);
        free(last);
        last = rev(s, name);
        git_ok(s->w->repo, "switch", "-q", "main", NULL);
        al_strv_addf(&dropping, "refs/heads/%s", name);
    }
    tmpdir_write(s->w->repo, ".git/ORIG_HEAD", "1111111111111111111111111111111111111111\n");
    assert_int_equal(try_take(s, NULL, &dropping), 0);
    bare = store_open_bare(s);
    packs = git_output(bare, "-c", "alias.k=!ls objects/pack", "k", NULL);
    assert_non_null(strstr(packs, ".keep"));
    assert_null(strstr(strstr(packs, ".keep") + 1, ".keep"));
    for (size_t i = 0; i < dropping.count; i++)
        git_ok(s->w->repo, "branch", "-q", "-D", dropping.items[i] + strlen("refs/heads/"), NULL);
    forget(s);
    assert_kept(s, last, "side.txt", "side\n");
}

static void lives_with_a_stash_that_is_broken(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, ".git/refs/stash", "1111111111111111111111111111111111111111\n");
    tmpdir_write(s->w->repo, ".git/logs/refs/stash",
                 "not a log\n2222222222222222222222222222222222222222 \n");
    take(s, NULL);
    take(s, NULL);
}

/* A commit that git cannot find is given up; one that it was not asked for is not. */
static void tells_a_git_that_did_not_start_from_one_that_failed(void **state)
{
    struct saver *s = *state;
    struct al_run_limits *budget = s->store->bare.budget;
    al_auto(al_beside_clear) struct al_beside packing = AL_BESIDE_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    struct rlimit files, none;
    int r;

    al_str_adds(&lines, "HEAD\n");
    budget->exit_code = 128; /* of the git before */
    getrlimit(RLIMIT_NOFILE, &files);
    none = (struct rlimit){ .rlim_cur = 3, .rlim_max = files.rlim_max };
    setrlimit(RLIMIT_NOFILE, &none);
    r = al_snapshot_pack_begin(&s->store->bare, &lines, &packing, &s->w->err);
    setrlimit(RLIMIT_NOFILE, &files);
    assert_int_equal(r, AL_ERR_EXECUTION);
    assert_false(al_git_exited_with_error(r, budget));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(keeps_a_stash_that_is_dropped),
        SAVER_TEST(keeps_a_branch_before_it_is_dropped),
        SAVER_TEST(keeps_a_branch_that_is_found_missing),
        SAVER_TEST(keeps_what_a_branch_was_moved_from),
        SAVER_TEST(keeps_a_detached_head_that_is_left),
        SAVER_TEST(keeps_what_lost_branches_shared),
        SAVER_TEST(keeps_nothing_that_is_still_there),
        SAVER_TEST(keeps_what_a_lost_branch_grew_from),
        SAVER_TEST(keeps_a_head_when_nothing_reaches_it_any_more),
        SAVER_TEST(packs_together_what_is_there),
        SAVER_TEST(lives_with_a_stash_that_is_broken),
        SAVER_TEST(lives_with_a_lost_commit_without_parents),
        SAVER_TEST(keeps_a_stash_without_parents),
        SAVER_TEST(tells_a_git_that_did_not_start_from_one_that_failed),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/keep", tests, NULL, NULL);
}
