// SPDX-License-Identifier: Apache-2.0
/* Checkpoints without the parts that an execution cannot change. */
#include "tests/unit/history/checkpoint_lib.h"

#define NO_FILES (AL_PARTS_WORKTREE)
#define NO_INDEX (AL_PARTS_WORKTREE | AL_PARTS_INDEX)
#define NOTHING  (AL_PARTS_WORKTREE | AL_PARTS_INDEX | AL_PARTS_REFS)

/* The names in the checkpoint's tree, one a line.  Caller frees. */
static char *parts_of(struct saver *s)
{
    return store_git(s, "ls-tree", "--name-only", s->id);
}

static void has_the_parts_that_are_asked_for(void **state)
{
    static const struct {
        unsigned without, has;
        const char *names;
    } rows[] = {
        { 0, 0, "about\nindex\nmodes\nrefs\nstate\nworktree\n" },
        { NO_FILES, NO_FILES, "about\nindex\nrefs\nstate\n" },
        { NO_INDEX, NO_INDEX, "about\nrefs\nstate\n" },
        { NOTHING, NOTHING, "about\nstate\n" },
        { AL_PARTS_WORKTREE | AL_PARTS_REFS, AL_PARTS_WORKTREE | AL_PARTS_REFS,
          "about\nindex\nstate\n" },
        { AL_PARTS_REFS, AL_PARTS_REFS, "about\nindex\nmodes\nstate\nworktree\n" },
        { AL_PARTS_INDEX, AL_PARTS_INDEX, "about\nmodes\nrefs\nstate\nworktree\n" },
    };
    struct saver *s = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct al_saved *found;
        al_auto(al_freep) char *names = NULL;

        take_without(s, NULL, rows[i].without);
        names = parts_of(s);
        assert_string_equal(names, rows[i].names);
        found = load(s, s->id);
        assert_int_equal(found->without, rows[i].has);
        assert_string_equal(value_of(found, AL_PART_HEAD, "HEAD"), "ref: refs/heads/main");
        assert_int_equal(found->pieces.count > 0, !(rows[i].has & AL_PARTS_INDEX));
        assert_int_equal(count_of(found, AL_PART_REF) > 0, !(rows[i].has & AL_PARTS_REFS));
    }
}

/* What makes git wait or fail in the working tree does not matter. */
static void looks_at_no_file_of_the_working_tree(void **state)
{
    struct saver *s = *state;

    assert_int_equal(mkfifoat(s->w->repo->fd, ".gitignore", 0600), 0);
    take_without(s, NULL, NO_FILES);
    assert_int_equal(unlinkat(s->w->repo->fd, ".gitignore", 0), 0);
}

/* The digest of the entries is the same in every checkpoint. */
static void assert_same_entries(struct saver *s, const char *what)
{
    const struct al_saved *whole, *alone;
    const char *first, *second;

    take(s, NULL);
    whole = load(s, s->id);
    take_without(s, NULL, NO_FILES);
    alone = load(s, s->id);
    first = value_of(whole, AL_PART_INDEX, "index");
    second = value_of(alone, AL_PART_INDEX, "index");
    if (strcmp(first, second) != 0)
        print_message("# %s\n", what);
    assert_string_equal(first, second);
    assert_int_equal(whole->index.len, alone->index.len);
    assert_memory_equal(whole->index.buf, alone->index.buf, alone->index.len);
}

static void reads_every_form_of_entry(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;

    assert_same_entries(s, "one file");
    tmpdir_write(repo, "dir/b", "b\n");
    tmpdir_write(repo, "dir/\xc3\xa4 \n\"", "odd\n");
    tmpdir_symlink(repo, "a.txt", "link");
    git_ok(repo, "add", ".", NULL);
    git_ok(repo, "update-index", "--chmod=+x", "dir/b", NULL);
    assert_same_entries(s, "modes and names");
    tmpdir_write(repo, "intended", "i\n");
    git_ok(repo, "add", "-N", "intended", NULL);
    git_ok(repo, "update-index", "--assume-unchanged", "a.txt", NULL);
    git_ok(repo, "update-index", "--skip-worktree", "dir/b", NULL);
    assert_same_entries(s, "bits");
    git_ok(repo, "update-index", "--assume-unchanged", "dir/b", NULL);
    assert_same_entries(s, "both bits");
    git_ok(repo, "update-index", "--index-version", "4", NULL);
    assert_same_entries(s, "version 4");
    git_ok(repo, "update-index", "--add", "--cacheinfo",
           "160000,1111111111111111111111111111111111111111,sub", NULL);
    assert_same_entries(s, "a submodule");
    git_ok(repo, "read-tree", "--empty", NULL);
    assert_same_entries(s, "no entry");
}

static void reads_conflicts(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;

    git_ok(repo, "switch", "-q", "-c", "side", NULL);
    git_fixture_commit(repo, "a.txt", "theirs\n", "theirs");
    git_ok(repo, "switch", "-q", "main", NULL);
    git_fixture_commit(repo, "a.txt", "ours\n", "ours");
    assert_int_not_equal(git_status_of(repo, "merge", "side", NULL), 0);
    assert_same_entries(s, "a conflict");
}

static void reads_the_entries_of_a_large_index(void **state)
{
    struct saver *s = *state;
    char word[241] = "", dir[4 * 241];
    struct stat st;

    memset(word, 'x', sizeof(word) - 1);
    (void)snprintf(dir, sizeof(dir), "%s/%s/%s", word, word, word);
    for (int i = 0; i < 1600; i++) {
        al_auto(al_freep) char *name = al_asprintf("%s/%s%d", dir, "file", i);

        tmpdir_write(s->w->repo, name, "same\n");
    }
    git_ok(s->w->repo, "add", "-A", NULL);
    assert_int_equal(fstatat(s->w->repo->fd, ".git/index", &st, 0), 0);
    assert_true(st.st_size > 1 << 20);
    assert_same_entries(s, "a large index");
    tmpdir_write(s->w->repo, "a.txt", "changed\n");
    git_ok(s->w->repo, "add", "a.txt", NULL);
    assert_same_entries(s, "a large index that changed");
}

/* Without an index there are no entries, as in an empty one. */
static void reads_no_index(void **state)
{
    struct saver *s = *state;

    assert_int_equal(unlinkat(s->w->repo->fd, ".git/index", 0), 0);
    assert_same_entries(s, "no index");
}

/* Entries in another file: the bytes count. */
static void takes_other_forms_as_they_are(void **state)
{
    struct saver *s = *state;

    git_ok(s->w->repo, "update-index", "--split-index", NULL);
    assert_same_entries(s, "split");
    git_ok(s->w->repo, "update-index", "--no-split-index", NULL);
    assert_same_entries(s, "whole again");
    tmpdir_write(s->w->repo, ".git/index", "DIRC, but no index");
    al_error_clear(&s->w->err);
    assert_int_equal(try_take(s, NULL, NULL), AL_ERR_EXECUTION); /* git does not read it either */
}

/* Everything that an index names is in the store, whatever becomes of the repository. */
static void keeps_what_is_staged(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(al_freep) char *oid = NULL;
    al_auto(al_freep) char *first = NULL;

    git_ok(repo, "gc", "-q", NULL); /* a.txt is in a pack */
    tmpdir_write(repo, "b", "staged\n");
    git_ok(repo, "add", "b", NULL);
    oid = git_output(repo, "rev-parse", ":b", NULL);
    first = git_output(repo, "rev-parse", ":a.txt", NULL);
    oid[strcspn(oid, "\n")] = first[strcspn(first, "\n")] = '\0';
    take_without(s, NULL, NO_FILES);
    git_ok(repo, "reset", "-q", "--hard", NULL);
    git_ok(repo, "gc", "-q", "--prune=now", NULL);
    assert_int_not_equal(git_status_of(repo, "cat-file", "-e", oid, NULL), 0);
    free(store_git(s, "gc", "-q", "--prune=now"));
    free(store_git(s, "cat-file", "-e", oid));
    free(store_git(s, "cat-file", "-e", first));
}

/* Each checkpoint leads to what was staged then, whatever the others have. */
static void has_what_was_staged_in_each(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;

    for (int i = 0; i < 8; i++) {
        al_auto(al_freep) char *name = al_asprintf("f%d", i % 3);
        al_auto(al_freep) char *text = al_asprintf("%d\n", i / 2);
        al_auto(al_freep) char *path = al_asprintf(":f%d", i % 3);
        al_auto(al_freep) char *oid = NULL;
        al_auto(al_freep) char *all = NULL;

        tmpdir_write(repo, name, text);
        git_ok(repo, "add", name, NULL);
        for (int again = 0; again < 2; again++) {
            take_without(s, NULL, NO_FILES);
            al_freep(&oid);
            al_freep(&all);
            oid = git_output(repo, "rev-parse", path, NULL);
            oid[strcspn(oid, "\n")] = '\0';
            all = store_git(s, "rev-list", "--objects", "--no-object-names", s->id);
            assert_non_null(strstr(all, oid));
        }
    }
    free(store_git(s, "fsck", "--full", "--strict"));
}

/* What the last checkpoint found staged is gone from the store, or the list of it is torn. */
static void trusts_no_list_of_a_lost_checkpoint(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(al_freep) char *reference = NULL;
    al_auto(al_freep) char *list = al_fs_join(s->store->dir, "staged");
    al_auto(al_freep) char *oid = NULL;

    tmpdir_write(repo, "b", "staged\n");
    git_ok(repo, "add", "b", NULL);
    oid = git_output(repo, "rev-parse", ":b", NULL);
    oid[strcspn(oid, "\n")] = '\0';
    take_without(s, NULL, NO_FILES);
    reference = al_asprintf("refs/before/%s", s->id);
    free(store_git(s, "update-ref", "-d", reference));
    free(store_git(s, "gc", "-q", "--prune=now"));
    saver_reopen(s, "repo");
    take_without(s, NULL, NO_FILES);
    free(store_git(s, "cat-file", "-e", oid));
    for (off_t cut = 0; cut < 100; cut += 13) {
        al_auto(al_freep) char *all = NULL;

        assert_int_equal(truncate(list, cut), 0);
        take_without(s, NULL, NO_FILES);
        all = store_git(s, "rev-list", "--objects", "--no-object-names", s->id);
        assert_non_null(strstr(all, oid));
    }
}

/* A file beyond max_file_bytes that HEAD has stays in the repository; one that is only staged is
 * copied. */
static void leaves_large_committed_files_in_the_repository(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(al_freep) char *committed = NULL;
    al_auto(al_freep) char *staged = NULL;
    al_auto(al_freep) char *all = NULL;

    s->settings.max_file_bytes = 10;
    git_fixture_commit(repo, "large", "0123456789\n", "large");
    committed = git_output(repo, "rev-parse", ":large", NULL);
    tmpdir_write(repo, "limit", "012345678\n");
    tmpdir_write(repo, "staged", "0123456789 staged\n");
    git_ok(repo, "add", "limit", "staged", NULL);
    staged = git_output(repo, "rev-parse", ":staged", NULL);
    take_without(s, NULL, NO_FILES);
    all = store_git_alone(s, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
    assert_null(strstr(all, committed));
    assert_non_null(strstr(all, staged));
}

/* Two checkpoints differ in the parts that both have. */
static void compares_what_both_have(void **state)
{
    struct saver *s = *state;
    struct al_differences changes = { .items = NULL };
    char whole[AL_OID_TEXT];

    take(s, NULL);
    memcpy(whole, s->id, sizeof(whole));
    tmpdir_write(s->w->repo, "b", "b\n");
    git_ok(s->w->repo, "add", "b", NULL);
    git_ok(s->w->repo, "branch", "new", NULL);
    for (unsigned without = 0; without <= NOTHING; without++) {
        bool files = !(without & AL_PARTS_WORKTREE);
        bool index = !(without & AL_PARTS_INDEX);
        size_t expected = (size_t)files + index + (without & AL_PARTS_REFS ? 0 : 1);

        take_without(s, NULL, without);
        assert_int_equal(al_checkpoint_changes_of(s->store, whole, s->id, &changes, &s->w->err), 0);
        assert_int_equal(changes.count, expected);
        assert_int_equal(changes.index_was_written, index);
        al_differences_clear(&changes);
    }
}

/* One that is kept stays, however many others are read. */
static void keeps_what_is_asked_for(void **state)
{
    struct saver *s = *state;
    const struct al_saved *kept, *again;
    char ids[6][AL_OID_TEXT];

    for (size_t i = 0; i < COUNT(ids); i++) {
        take_without(s, NULL, NO_FILES);
        memcpy(ids[i], s->id, sizeof(ids[i]));
    }
    assert_int_equal(al_checkpoint_load(s->store, ids[0], true, &kept, &s->w->err), 0);
    for (size_t i = 0; i < COUNT(ids); i++)
        assert_string_equal(load(s, ids[i])->id, ids[i]);
    assert_int_equal(al_checkpoint_load(s->store, ids[0], false, &again, &s->w->err), 0);
    assert_ptr_equal(again, kept);
    assert_string_equal(value_of(kept, AL_PART_HEAD, "HEAD"), "ref: refs/heads/main");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(has_the_parts_that_are_asked_for),
        SAVER_TEST(looks_at_no_file_of_the_working_tree),
        SAVER_TEST(reads_every_form_of_entry),
        SAVER_TEST(reads_conflicts),
        SAVER_TEST(reads_no_index),
        SAVER_TEST(reads_the_entries_of_a_large_index),
        SAVER_TEST(takes_other_forms_as_they_are),
        SAVER_TEST(keeps_what_is_staged),
        SAVER_TEST(has_what_was_staged_in_each),
        SAVER_TEST(trusts_no_list_of_a_lost_checkpoint),
        SAVER_TEST(leaves_large_committed_files_in_the_repository),
        SAVER_TEST(compares_what_both_have),
        SAVER_TEST(keeps_what_is_asked_for),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/parts", tests, NULL, NULL);
}
