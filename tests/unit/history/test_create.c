// SPDX-License-Identifier: Apache-2.0
/* Creating a checkpoint: which commit comes about, which reference names it, and when there is
 * none.  test_checkpoint.c has what is in it. */
#include <sys/stat.h>

#include "git/oid.h"
#include "proc/cancel.h"
#include "tests/unit/history/checkpoint_lib.h"

static char *references(struct saver *s)
{
    return store_git(s, "for-each-ref", "--format=%(refname) %(objectname)", "refs/before",
                     "refs/after", "refs/new");
}

static void assert_no_references(struct saver *s)
{
    al_auto(al_freep) char *names = references(s);

    assert_string_equal(names, "");
}

/* The first line and the parents of a checkpoint's commit. */
static void assert_commit(struct saver *s, const char *id, const char *subject, const char *parents)
{
    al_auto(al_freep) char *said = store_git(s, "show", "-s", "--format=%s|%P", id);
    al_auto(al_freep) char *expected = al_asprintf("%s|%s\n", subject, parents);

    assert_string_equal(said, expected);
}

static void assert_parts(struct saver *s, const char *expected)
{
    al_auto(al_freep) char *said = store_git(s, "ls-tree", "--name-only", s->id);

    assert_string_equal(said, expected);
}

static int create(struct saver *s, const struct al_checkpoint_reason *reason,
                  struct al_run_limits *limits)
{
    int r;

    s->repo->at.budget = limits;
    al_error_clear(&s->w->err);
    r = al_checkpoint_create(s->store, reason, s->id, &s->w->err);
    s->repo->at.budget = &s->w->budget;
    return r;
}

static void names_the_one_before_and_the_one_after(void **state)
{
    struct saver *s = *state;
    char before[AL_OID_TEXT], after[AL_OID_TEXT];
    al_auto(al_freep) char *names = NULL, *expected = NULL;

    take(s, NULL);
    memcpy(before, s->id, sizeof(before));
    assert_commit(s, before, "before git_test test", "");
    assert_int_equal(al_checkpoint_find_after(s->store, before, after, NULL), AL_ERR_NOT_FOUND);
    tmpdir_write(s->w->repo, "a.txt", "two\n");
    take(s, before);
    assert_commit(s, s->id, "after git_test test", before);
    assert_int_equal(al_checkpoint_find_after(s->store, before, after, NULL), 0);
    assert_string_equal(after, s->id);
    names = references(s);
    expected = al_asprintf("refs/after/%s %s\nrefs/before/%s %s\n", before, after, before, before);
    assert_string_equal(names, expected);
}

static void gives_every_one_its_own_id(void **state)
{
    struct saver *s = *state;
    char first[AL_OID_TEXT];
    al_auto(al_freep) char *tree = NULL, *other = NULL;

    take(s, NULL);
    memcpy(first, s->id, sizeof(first));
    tree = store_git(s, "show", "-s", "--format=%T", first);
    take(s, NULL);
    other = store_git(s, "show", "-s", "--format=%T", s->id);
    assert_string_equal(tree, other);
    assert_string_not_equal(s->id, first);
}

static void has_the_parts_there_are(void **state)
{
    struct saver *s = *state;

    take(s, NULL);
    assert_parts(s, "about\nindex\nmodes\nrefs\nstate\nworktree\n");
    tmpdir_write(s->w->repo, "b.txt", "staged\n");
    git_ok(s->w->repo, "add", "b.txt", NULL);
    tmpdir_write(s->w->repo, "b.txt", "changed since\n");
    take(s, NULL);
    assert_parts(s, "about\nindex\nmodes\nrefs\nstaged\nstate\nworktree\n");
    tmpdir_write(s->w->repo, "c", "c\n");
    tmpdir_write(s->w->repo, "d", "larger\n");
    s->settings.max_file_bytes = 4;
    take(s, NULL);
    assert_parts(s, "about\nindex\nleft-out\nmodes\nrefs\nstaged\nstate\nworktree\n");
}

static void has_no_index_where_there_is_none(void **state)
{
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *fresh = subdir_open(s->w->root, "fresh");

    git_ok(fresh, "init", "-q", NULL);
    saver_reopen(s, "fresh");
    take(s, NULL);
    assert_parts(s, "about\nmodes\nrefs\nstate\n"); /* git has no empty directory */
}

static void tells_which_files_it_does_not_have(void **state)
{
    struct saver *s = *state;
    struct al_run_limits limits = long_budget();
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    const struct al_checkpoint_reason reason = {
        .tool = "t", .operation = "o", .overwriting = &paths, .ret_missing = &missing
    };

    tmpdir_write(s->w->repo, ".gitignore", "*.o\n");
    tmpdir_write(s->w->repo, "new", "x");
    tmpdir_write(s->w->repo, "dir/in-it", "x");
    tmpdir_write(s->w->repo, "dir/x.o", "x");
    tmpdir_write(s->w->repo, "y.o", "x");
    al_strv_adds(&paths, "a.txt", "new", "gone", "gone/below", "new/below", NULL);
    al_strv_add(&missing, "of an earlier call");
    assert_int_equal(create(s, &reason, &limits), 0);
    assert_int_equal(missing.count, 0);
    /* Where a file is to be: all of the directory; where a directory is to be: the file. */
    al_strv_adds(&paths, "dir", "y.o/below", NULL);
    assert_int_equal(create(s, &reason, &limits), 0);
    assert_int_equal(missing.count, 2);
    assert_true(al_strv_contains(&missing, "dir/x.o"));
    assert_true(al_strv_contains(&missing, "y.o"));
    tmpdir_write(s->w->repo, "a.txt", "four and more\n");
    s->settings.max_file_bytes = 4;
    assert_int_equal(create(s, &reason, &limits), 0);
    assert_int_equal(missing.count, 3);
    assert_true(al_strv_contains(&missing, "a.txt"));
}

/* Whatever the store has by then, no reference names it. */
static void assert_refused(struct saver *s, const char *words)
{
    assert_int_equal(try_take(s, NULL, NULL), AL_ERR_EXECUTION);
    assert_int_equal(s->w->err.code, AL_CODE_SNAPSHOT_DISABLED);
    assert_true(al_starts_with(s->w->err.message, "No checkpoint can be taken: "));
    if (!strstr(s->w->err.message, words))
        print_message("# %s\n", s->w->err.message);
    assert_non_null(strstr(s->w->err.message, words));
    assert_no_references(s);
}

static void refuses_an_index_that_git_cannot_read(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, ".git/index", "DIRC garbage");
    assert_refused(s, "index");
    assert_int_equal(unlinkat(s->w->repo->fd, ".git/index", 0), 0);
    take(s, NULL);
}

static void refuses_references_it_cannot_read(void **state)
{
    struct saver *s = *state;

    tmpdir_mkdir(s->w->repo, ".git/packed-refs");
    assert_refused(s, "packed-refs");
    assert_int_equal(unlinkat(s->w->repo->fd, ".git/packed-refs", AT_REMOVEDIR), 0);
    take(s, NULL);
}

static void refuses_when_the_store_cannot_be_written(void **state)
{
    static const char *const places[] = { "objects", "refs/new" };
    struct saver *s = *state;

    take_without(s, NULL, AL_PARTS_WORKTREE);
    for (size_t i = 0; i < COUNT(places); i++) {
        al_auto(al_freep) char *place = al_asprintf("%s/%s", s->store->path, places[i]);
        al_auto(al_freep) char *away = al_asprintf("%s/away", s->store->path);

        assert_int_equal(rename(place, away), 0);
        assert_int_equal(mknod(place, S_IFREG | 0600, 0), 0);
        assert_int_equal(try_take(s, NULL, NULL), AL_ERR_EXECUTION);
        assert_int_equal(s->w->err.code, AL_CODE_SNAPSHOT_DISABLED);
        assert_int_equal(unlink(place), 0);
        assert_int_equal(rename(away, place), 0);
        take(s, NULL);
        assert_content(s, "worktree/a.txt", "one\n");
    }
}

/* The call was withdrawn; nothing is wrong with the repository or the store. */
static void keeps_a_cancel_what_it_is(void **state)
{
    struct saver *s = *state;
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    const struct al_checkpoint_reason reason = { .tool = "t", .operation = "o" };
    struct al_run_limits limits = { .cancel = cancel, .left_ms = LONG_MS };

    assert_int_equal(create(s, &reason, &limits), 0);
    al_cancel_fire(cancel);
    assert_int_equal(create(s, &reason, &limits), AL_ERR_CANCELLED);
    assert_int_not_equal(s->w->err.code, AL_CODE_SNAPSHOT_DISABLED);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(names_the_one_before_and_the_one_after),
        SAVER_TEST(gives_every_one_its_own_id),
        SAVER_TEST(has_the_parts_there_are),
        SAVER_TEST(has_no_index_where_there_is_none),
        SAVER_TEST(tells_which_files_it_does_not_have),
        SAVER_TEST(refuses_an_index_that_git_cannot_read),
        SAVER_TEST(refuses_references_it_cannot_read),
        SAVER_TEST(refuses_when_the_store_cannot_be_written),
        SAVER_TEST(keeps_a_cancel_what_it_is),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/create", tests, NULL, NULL);
}
