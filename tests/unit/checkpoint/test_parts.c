// SPDX-License-Identifier: Apache-2.0
/* Checkpoints without the parts that an execution cannot change. */
#include "tests/unit/checkpoint/lib.h"

#define NO_FILES (AL_PARTS_WORKTREE)
#define NO_INDEX (AL_PARTS_WORKTREE | AL_PARTS_INDEX)
#define NOTHING  (AL_PARTS_WORKTREE | AL_PARTS_INDEX | AL_PARTS_REFS)

static struct al_saved_state state_of(struct saver *s, const char *id)
{
    struct al_saved_state found = { .index = AL_STR_INIT };
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_checkpoint_state(s->store, id, &budget, &found, &s->w->err), 0);
    return found;
}

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
        { 0, 0, "about\nindex\nrefs\nstate\nworktree\n" },
        { NO_FILES, NO_FILES, "about\nindex\nrefs\nstaged\nstate\n" },
        { NO_INDEX, NO_INDEX, "about\nrefs\nstate\n" },
        { NOTHING, NOTHING, "about\nstate\n" },
        { AL_PARTS_WORKTREE | AL_PARTS_REFS, AL_PARTS_WORKTREE | AL_PARTS_REFS,
          "about\nindex\nstaged\nstate\n" },
        { AL_PARTS_REFS, AL_PARTS_REFS, "about\nindex\nstate\nworktree\n" },
        { AL_PARTS_INDEX, 0, "about\nindex\nrefs\nstate\nworktree\n" },
    };
    struct saver *s = *state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_saved_state_clear) struct al_saved_state found = { .index = AL_STR_INIT };
        al_auto(al_freep) char *names = NULL;

        take_without(s, NULL, rows[i].without);
        names = parts_of(s);
        assert_string_equal(names, rows[i].names);
        found = state_of(s, s->id);
        assert_int_equal(found.without, rows[i].has);
        assert_string_equal(found.head, "ref: refs/heads/main");
        assert_int_equal(found.has_index, !(rows[i].has & AL_PARTS_INDEX));
        assert_int_equal(found.nrefs > 0, !(rows[i].has & AL_PARTS_REFS));
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

/* The digest of the entries is the one that git's list gives. */
static void assert_same_entries(struct saver *s, const char *what)
{
    al_auto(al_saved_state_clear) struct al_saved_state whole = { .index = AL_STR_INIT };
    al_auto(al_saved_state_clear) struct al_saved_state alone = { .index = AL_STR_INIT };

    take(s, NULL);
    whole = state_of(s, s->id);
    take_without(s, NULL, NO_FILES);
    alone = state_of(s, s->id);
    if (strcmp(whole.entries, alone.entries) != 0)
        print_message("# %s\n", what);
    assert_string_equal(whole.entries, alone.entries);
    assert_int_equal(whole.index.len, alone.index.len);
    assert_memory_equal(whole.index.buf, alone.index.buf, alone.index.len);
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

/* So large that a thread reads the entries: more than 1 MiB. */
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

/* Entries in another file, or for directories: git lists them, and the whole tree is read. */
static void leaves_other_forms_to_git(void **state)
{
    static const char *const words[] = { "--split-index", "--no-split-index" };
    struct saver *s = *state;

    for (size_t i = 0; i < COUNT(words); i++) {
        al_auto(al_saved_state_clear) struct al_saved_state found = { .index = AL_STR_INIT };

        git_ok(s->w->repo, "update-index", words[i], NULL);
        take_without(s, NULL, NO_FILES);
        found = state_of(s, s->id);
        assert_int_equal(found.without, i == 0 ? 0 : NO_FILES);
    }
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

/* What is new costs a tree; after many of them one with everything begins anew. */
static void adds_what_is_new(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    bool began_anew = false;

    take_without(s, NULL, NO_FILES);
    for (int i = 0; i < 70; i++) {
        al_auto(al_freep) char *name = al_asprintf("f%d", i % 7);
        al_auto(al_freep) char *text = al_asprintf("%d\n", i);
        al_auto(al_freep) char *path = al_asprintf(":f%d", i % 7);
        al_auto(al_freep) char *staged = NULL;
        al_auto(al_freep) char *oid = NULL;
        al_auto(al_freep) char *all = NULL;
        al_auto(al_freep) char *names = NULL;

        tmpdir_write(repo, name, text);
        git_ok(repo, "add", name, NULL);
        take_without(s, NULL, NO_FILES);
        oid = git_output(repo, "rev-parse", path, NULL);
        oid[strcspn(oid, "\n")] = '\0';
        staged = al_asprintf("%s:staged", s->id);
        all = store_git(s, "rev-list", "--objects", "--no-object-names", s->id);
        assert_non_null(strstr(all, oid));
        names = store_git(s, "ls-tree", "--name-only", staged);
        if (strcmp(names, "before\nnew\n") != 0)
            began_anew = i > 10;
        else
            assert_false(began_anew && i < 64);
    }
    assert_true(began_anew);
    free(store_git(s, "fsck", "--full", "--strict"));
}

/* A cache whose checkpoint is gone, or that is torn, is not relied on. */
static void trusts_no_cache_of_a_lost_checkpoint(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *reference = NULL;
    al_auto(al_freep) char *oid = git_output(s->w->repo, "rev-parse", ":a.txt", NULL);

    oid[strcspn(oid, "\n")] = '\0';
    take_without(s, NULL, NO_FILES);
    reference = al_asprintf("refs/before/%s", s->id);
    free(store_git(s, "update-ref", "-d", reference));
    free(store_git(s, "gc", "-q", "--prune=now"));
    saver_reopen(s, "repo");
    take_without(s, NULL, NO_FILES);
    free(store_git(s, "cat-file", "-e", oid));
    for (size_t cut = 0; cut < 400; cut += 57) {
        al_auto(al_freep) char *path = al_fs_join(s->store->dir, "index");

        assert_int_equal(truncate(path, (off_t)cut), 0);
        take_without(s, NULL, NO_FILES);
        free(store_git(s, "fsck", "--full", "--strict"));
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
    all = store_git(s, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
    assert_null(strstr(all, committed));
    assert_non_null(strstr(all, staged));
}

static void writes_no_more_than_the_store_may_hold(void **state)
{
    struct saver *s = *state;
    struct al_checkpoint_reason reason = { .tool = "git_test",
                                           .operation = "test",
                                           .without = NO_FILES };
    struct al_run_limits budget = long_budget();

    tmpdir_write(s->w->repo, "b", "0123456789abcdefghijklmnopqrstuvwxyz");
    git_ok(s->w->repo, "add", "b", NULL);
    s->settings.max_store_bytes = 32;
    assert_int_equal(al_checkpoint_create(s->store, &reason, &budget, s->id, &s->w->err),
                     AL_ERR_EXECUTION);
    assert_non_null(strstr(s->w->err.message, "max_store_bytes"));
    git_ok(s->w->repo, "repack", "-q", "-a", "-d", NULL);
    al_error_clear(&s->w->err);
    assert_int_equal(al_checkpoint_create(s->store, &reason, &budget, s->id, &s->w->err),
                     AL_ERR_EXECUTION);
    s->settings.max_store_bytes = 1u << 20;
    take_without(s, NULL, NO_FILES);
}

/* Two checkpoints differ in the parts that both have. */
static void compares_what_both_have(void **state)
{
    struct saver *s = *state;
    struct al_differences changes = { .items = NULL };
    struct al_run_limits budget = long_budget();
    char whole[AL_OID_TEXT];

    take(s, NULL);
    memcpy(whole, s->id, sizeof(whole));
    tmpdir_write(s->w->repo, "b", "b\n");
    git_ok(s->w->repo, "add", "b", NULL);
    git_ok(s->w->repo, "branch", "new", NULL);
    for (unsigned without = 0; without <= NOTHING; without++) {
        bool files = !(without & AL_PARTS_WORKTREE);
        bool index = files || !(without & AL_PARTS_INDEX);
        size_t expected = (size_t)files + index + (without & AL_PARTS_REFS ? 0 : 1);

        take_without(s, NULL, without);
        assert_int_equal(
            al_checkpoint_compare(s->store, whole, s->id, &budget, &changes, &s->w->err), 0);
        assert_int_equal(changes.count, expected);
        assert_int_equal(changes.index_was_written, index);
        al_differences_clear(&changes);
    }
}

/* Take a checkpoint of some files, without the rest of the working tree. */
static void take_only(struct saver *s, const char *first, const char *second)
{
    al_auto(al_strv_clear) struct al_strv only = AL_STRV_INIT;
    struct al_run_limits budget = long_budget();
    struct al_checkpoint_reason reason = {
        .tool = "git_test", .operation = "test", .without = AL_PARTS_WORKTREE, .only = &only
    };

    al_strv_adds(&only, first, second, NULL);
    assert_int_equal(al_checkpoint_create(s->store, &reason, &budget, s->id, &s->w->err), 0);
}

static void has_some_files(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    struct al_differences changes = { .items = NULL };
    struct al_run_limits budget = long_budget();
    al_auto(al_saved_state_clear) struct al_saved_state found = { .index = AL_STR_INIT };
    al_auto(al_freep) char *files = NULL;
    char before[AL_OID_TEXT], whole[AL_OID_TEXT];

    tmpdir_write(repo, "other", "1\n");
    take_only(s, "dir/new", "a.txt");
    memcpy(before, s->id, sizeof(before));
    files = files_of(s);
    assert_string_equal(files, "100644 a.txt\n");
    found = state_of(s, s->id);
    assert_int_equal(found.without, AL_PARTS_WORKTREE);
    assert_int_equal(found.paths.count, 2);
    assert_string_equal(found.paths.items[0], "a.txt");
    assert_string_equal(found.paths.items[1], "dir/new");
    tmpdir_write(repo, "a.txt", "changed\n");
    tmpdir_write(repo, "dir/new", "new\n");
    tmpdir_write(repo, "other", "2\n");
    take(s, NULL);
    memcpy(whole, s->id, sizeof(whole));
    take_only(s, "a.txt", "dir/new");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(al_checkpoint_compare(s->store, before, i ? whole : s->id, &budget,
                                               &changes, &s->w->err),
                         0);
        assert_int_equal(changes.count, 2);
        assert_string_equal(changes.items[0].name, "a.txt");
        assert_string_equal(changes.items[1].name, "dir/new");
        assert_null(changes.items[1].from);
        al_differences_clear(&changes);
    }
    free(store_git(s, "fsck", "--full", "--strict"));
}

/* Where more than a file would be replaced, the whole tree is read. */
static void has_all_where_a_file_is_not_alone(void **state)
{
    static const char *const names[] = {
        "dir", "file/x", "link/x", ".git/config", "fifo", "/x", ""
    };
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;

    tmpdir_write(repo, "dir/x", "x\n");
    tmpdir_write(repo, "file", "x\n");
    tmpdir_symlink(repo, "dir", "link");
    assert_int_equal(mkfifoat(repo->fd, "fifo", 0600), 0);
    for (size_t i = 0; i <= COUNT(names); i++) {
        al_auto(al_saved_state_clear) struct al_saved_state found = { .index = AL_STR_INIT };

        take_only(s, "a.txt", i < COUNT(names) ? names[i] : "link");
        found = state_of(s, s->id);
        assert_int_equal(found.without, i < COUNT(names) ? 0 : AL_PARTS_WORKTREE);
    }
}

/* Lists of changed files have no file that is marked as unchanged. */
static void has_all_if_the_index_has_marks(void **state)
{
    static const char *const marks[] = { "--assume-unchanged", "--skip-worktree" };
    static const char *const none[] = { "--no-assume-unchanged", "--no-skip-worktree" };
    struct saver *s = *state;

    for (size_t i = 0; i < COUNT(marks); i++) {
        for (int marked = 1; marked >= 0; marked--) {
            al_auto(al_saved_state_clear) struct al_saved_state found = { .index = AL_STR_INIT };

            git_ok(s->w->repo, "update-index", marked ? marks[i] : none[i], "a.txt", NULL);
            for (int again = 0; again < 2; again++) { /* with a cache, too */
                al_saved_state_clear(&found);
                take_only(s, "a.txt", "b.txt");
                found = state_of(s, s->id);
                assert_int_equal(found.without, marked ? 0 : AL_PARTS_WORKTREE);
            }
        }
    }
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
        SAVER_TEST(leaves_other_forms_to_git),
        SAVER_TEST(keeps_what_is_staged),
        SAVER_TEST(adds_what_is_new),
        SAVER_TEST(trusts_no_cache_of_a_lost_checkpoint),
        SAVER_TEST(leaves_large_committed_files_in_the_repository),
        SAVER_TEST(writes_no_more_than_the_store_may_hold),
        SAVER_TEST(compares_what_both_have),
        SAVER_TEST(has_some_files),
        SAVER_TEST(has_all_where_a_file_is_not_alone),
        SAVER_TEST(has_all_if_the_index_has_marks),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/parts", tests, NULL, NULL);
}
