// SPDX-License-Identifier: Apache-2.0
/* checkpoint/collect.h, refs.h, gitdir.h and pack.h: what a checkpoint takes has caps, and at a
 * cap nothing is left out in silence.  The files are compiled into this test with small ones (see
 * meson.build): nobody makes a million references in a test. */
#include "checkpoint/collect.h"
#include "checkpoint/gitdir.h"
#include "checkpoint/refs.h"
#include "gitops/command.h"
#include "gitops/deadline.h"
#include "odb/pack_write.h"
#include "tests/unit/checkpoint/lib.h"

static void make_files(struct tmpdir *dir, const char *prefix, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        al_auto(al_freep) char *name = al_asprintf("%s%03zu", prefix, i);

        tmpdir_write(dir, name, "x");
    }
}

/* The number of files, or a status when there are too many. */
static int gather(struct saver *s)
{
    al_auto(al_collected_files_clear) struct al_collected_files gathered = AL_COLLECTED_FILES_INIT;
    struct al_run_limits budget = long_budget();
    struct al_deadline deadline = al_deadline_begin(&budget);
    int r;

    al_error_clear(&s->w->err);
    r = al_collect_files(s->repo, s->w->repo->fd, NULL, false, &deadline, &gathered, &s->w->err);
    return r < 0 ? r : (int)gathered.names.count;
}

static void assert_too_much(struct saver *s, int r, const char *words)
{
    assert_int_equal(r, AL_ERR_EXECUTION);
    if (!strstr(s->w->err.message, words))
        print_message("# %s\n", s->w->err.message);
    assert_non_null(strstr(s->w->err.message, words));
    assert_int_equal(try_take(s, NULL, NULL), AL_ERR_EXECUTION);
    assert_non_null(strstr(s->w->err.message, words));
}

#define TOO_MANY_FILES "the working tree has more than 40 files that are not ignored"

static void takes_as_many_untracked_files_as_the_limit(void **state)
{
    struct saver *s = *state;

    make_files(s->w->repo, "u", 38);
    assert_int_equal(gather(s), 39);
    make_files(s->w->repo, "v", 1);
    assert_int_equal(gather(s), 40);
    take(s, NULL);
    make_files(s->w->repo, "w", 1);
    assert_too_much(s, gather(s), TOO_MANY_FILES);
}

static void takes_as_many_tracked_files_as_the_limit(void **state)
{
    struct saver *s = *state;

    make_files(s->w->repo, "u", 39);
    git_ok(s->w->repo, "add", ".", NULL);
    assert_int_equal(gather(s), 40);
    take(s, NULL);
    make_files(s->w->repo, "v", 1);
    git_ok(s->w->repo, "add", ".", NULL);
    assert_too_much(s, gather(s), TOO_MANY_FILES);
}

/* An unmerged file has three index entries and is one file. */
static void counts_a_conflict_once(void **state)
{
    struct saver *s = *state;

    git_ok(s->w->repo, "checkout", "-q", "-b", "other", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "theirs\n", "theirs");
    git_ok(s->w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "ours\n", "ours");
    make_files(s->w->repo, "A", 39); /* sorted before it */
    git_ok(s->w->repo, "add", ".", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "many", NULL);
    assert_int_not_equal(git_status_of(s->w->repo, "merge", "other", NULL), 0);
    assert_int_equal(gather(s), 40);
    make_files(s->w->repo, "B", 1);
    assert_too_much(s, gather(s), TOO_MANY_FILES);
}

/* The nested repository itself counts as one, besides its files. */
static void takes_as_many_nested_files_as_the_limit(void **state)
{
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *nested = subdir_open(s->w->repo, "nested");
    int names;

    git_fixture_init(nested);
    git_fixture_commit(nested, "inner", "x", "inner");
    names = gather(s);
    assert_in_range(names, 3, 38);
    make_files(nested, "u", (size_t)(39 - names));
    assert_int_equal(gather(s), 39);
    take(s, NULL);
    tmpdir_mkdir(nested, "zz-no-file");
    assert_int_equal(gather(s), 39);
    make_files(nested, "v", 1);
    assert_too_much(s, gather(s), TOO_MANY_FILES);
}

static void takes_names_up_to_so_many_bytes(void **state)
{
    /* Besides "a.txt" and five names of 200 bytes. */
    static const size_t full = 1200 - 6 - 5 * 201 - 1;
    struct saver *s = *state;
    char name[201] = "";

    memset(name, 'n', sizeof(name) - 1);
    for (int i = 0; i < 5; i++) {
        name[0] = (char)('A' + i);
        tmpdir_write(s->w->repo, name, "x");
    }
    for (size_t len = full - 1; len <= full + 1; len++) {
        al_auto(al_freep) char *last = al_strndup(name, len);

        last[0] = 'F';
        tmpdir_write(s->w->repo, last, "x");
        if (len <= full) {
            assert_int_equal(gather(s), 7);
            take(s, NULL);
        } else {
            assert_too_much(s, gather(s),
                            "the names of the files in the working tree have more "
                            "than 1200 bytes");
        }
        git_ok(s->w->repo, "clean", "-q", "-f", last, NULL);
    }
}

static void walks_nested_directories_up_to_the_limit(void **state)
{
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *nested = subdir_open(s->w->repo, "nested");
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;
    int names;

    git_fixture_init(nested);
    git_fixture_commit(nested, "inner", "x", "inner");
    names = gather(s);
    for (int depth = 1; depth < AL_FILE_LIST_DEPTH_MAX; depth++) {
        al_str_adds(&path, "d/");
        tmpdir_mkdir(nested, path.buf);
    }
    assert_int_equal(gather(s), names);
    al_str_adds(&path, "d/");
    tmpdir_mkdir(nested, path.buf);
    assert_int_equal(gather(s), names);
    take(s, NULL);
    al_str_adds(&path, "d/");
    tmpdir_mkdir(nested, path.buf);
    assert_too_much(s, gather(s), "a nested repository has more than 256 levels of directories");
}

/* The number of references, or a status when there are too many. */
static int read_refs(struct saver *s)
{
    al_auto(al_refs_clear) struct al_refs refs = { .items = NULL };
    al_auto(subdir_closep) struct tmpdir *git_dir = subdir_open(s->w->repo, ".git");
    struct al_run_limits budget = long_budget();
    struct al_deadline deadline = al_deadline_begin(&budget);
    int r;

    al_error_clear(&s->w->err);
    r = al_refs_read(git_dir->fd, -1, false, &deadline, &refs, &s->w->err);
    return r < 0 ? r : (int)refs.count;
}

/* Create branches besides main. */
static void make_branches(struct saver *s, const char *prefix, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        al_auto(al_freep) char *name = al_asprintf("%s%zu", prefix, i);

        git_ok(s->w->repo, "branch", name, NULL);
    }
}

#define TOO_MANY_REFS "the repository has more than 8 references"

static void takes_as_many_loose_references_as_the_limit(void **state)
{
    struct saver *s = *state;

    make_branches(s, "b", 6);
    assert_int_equal(read_refs(s), 7);
    make_branches(s, "c", 1);
    assert_int_equal(read_refs(s), 8);
    take(s, NULL);
    for (char c = 'a'; c <= 'z'; c++) { /* whatever the order of the directory */
        const char name[] = { '.', 'g', 'i', 't', '/', 'r', 'e', 'f', 's', '/', c, '\0' };

        tmpdir_mkdir(s->w->repo, name);
    }
    tmpdir_write(s->w->repo, ".git/refs/heads/d.lock", "");
    tmpdir_write(s->w->repo, ".git/refs/heads/none", "nothing\n");
    assert_int_equal(read_refs(s), 8);
    tmpdir_write(s->w->repo, ".git/refs/heads/none", "ref: refs/heads/main\n");
    assert_too_much(s, read_refs(s), TOO_MANY_REFS);
}

static void takes_as_many_packed_references_as_the_limit(void **state)
{
    struct saver *s = *state;

    make_branches(s, "b", 7);
    git_ok(s->w->repo, "pack-refs", "--all", NULL);
    assert_int_equal(read_refs(s), 8);
    take(s, NULL);
    make_branches(s, "c", 1);
    assert_too_much(s, read_refs(s), TOO_MANY_REFS);
    git_ok(s->w->repo, "pack-refs", "--all", NULL);
    assert_too_much(s, read_refs(s), TOO_MANY_REFS);
}

/* A loose reference and a packed one of the same name are one reference. */
static void counts_loose_and_packed_references_together(void **state)
{
    struct saver *s = *state;

    make_branches(s, "b", 4);
    git_ok(s->w->repo, "pack-refs", "--all", NULL); /* 5 */
    git_fixture_commit(s->w->repo, "a.txt", "two\n", "moves main");
    make_branches(s, "c", 3); /* and 4 loose ones, of which main is packed as well */
    assert_int_equal(read_refs(s), 8);
    make_branches(s, "d", 1);
    assert_too_much(s, read_refs(s), TOO_MANY_REFS);
}

static void takes_references_as_deep_as_the_limit(void **state)
{
    struct saver *s = *state;
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;

    for (int depth = 2; depth < AL_REFS_DEPTH_MAX; depth++) /* below refs/heads */
        al_str_adds(&name, "d/");
    make_branches(s, name.buf, 1);
    assert_int_equal(read_refs(s), 2);
    al_str_adds(&name, "e/");
    make_branches(s, name.buf, 1);
    assert_int_equal(read_refs(s), 3);
    take(s, NULL);
    al_str_adds(&name, "f/");
    make_branches(s, name.buf, 1);
    assert_too_much(s, read_refs(s), "below more than 64 directories");
}

/* The number of files of the git directory, or a status when there are too many. */
static int read_gitdir(struct saver *s)
{
    struct al_gitdir_files files = { .items = NULL };
    al_auto(subdir_closep) struct tmpdir *git_dir = subdir_open(s->w->repo, ".git");
    struct al_run_limits budget = long_budget();
    struct al_deadline deadline = al_deadline_begin(&budget);
    int r, count;

    al_error_clear(&s->w->err);
    r = al_gitdir_read(git_dir->fd, git_dir->fd, &deadline, &files, &s->w->err);
    count = (int)files.count;
    al_gitdir_files_clear(&files);
    return r < 0 ? r : count;
}

static void fill(struct saver *s, const char *name, size_t len)
{
    al_auto(al_freep) char *bytes = al_calloc(1, len + 1);

    memset(bytes, '\n', len);
    tmpdir_write_bytes(s->w->repo, name, bytes, len);
}

static void takes_as_many_files_of_an_operation_as_the_limit(void **state)
{
    struct saver *s = *state;
    int there = read_gitdir(s);

    assert_in_range(there, 1, 18);
    make_files(s->w->repo, ".git/rebase-merge/", (size_t)(19 - there));
    assert_int_equal(read_gitdir(s), 19);
    tmpdir_symlink(s->w->repo, "elsewhere", ".git/rebase-merge/link");
    assert_int_equal(read_gitdir(s), 20);
    take(s, NULL);
    make_files(s->w->repo, ".git/sequencer/", 1);
    assert_too_much(s, read_gitdir(s), "more than 20 files");
}

static void takes_files_of_an_operation_as_large_as_the_limit(void **state)
{
    struct saver *s = *state;
    int there = read_gitdir(s);

    for (size_t len = 2999; len <= 3000; len++) {
        fill(s, ".git/MERGE_MSG", len);
        assert_int_equal(read_gitdir(s), there + 1);
    }
    take(s, NULL);
    fill(s, ".git/MERGE_MSG", 3001);
    assert_too_much(s, read_gitdir(s), "larger than 3000 bytes");
}

static void takes_as_many_bytes_of_an_operation_as_the_limit(void **state)
{
    struct saver *s = *state;
    int there = read_gitdir(s);
    size_t used = 0;

    static const char *const always[] = { ".git/HEAD", ".git/ORIG_HEAD", ".git/config" };
    for (size_t i = 0; i < AL_COUNT(always); i++) {
        al_auto(al_freep) char *text = tmpdir_read(s->w->repo, always[i]);

        used += text ? strlen(text) : 0;
    }
    fill(s, ".git/MERGE_MSG", 2500);
    for (size_t len = 5000 - used - 2500 - 1; len <= 5000 - used - 2500; len++) {
        fill(s, ".git/SQUASH_MSG", len);
        assert_int_equal(read_gitdir(s), there + 2);
    }
    take(s, NULL);
    fill(s, ".git/SQUASH_MSG", 5000 - used - 2500 + 1);
    assert_too_much(s, read_gitdir(s), "has more than 5000 bytes");
}

static void takes_directories_of_an_operation_as_deep_as_the_limit(void **state)
{
    struct saver *s = *state;
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;
    int there = read_gitdir(s);

    al_str_adds(&path, ".git/rebase-merge/");
    for (int depth = 1; depth <= AL_GITDIR_DEPTH_MAX + 1; depth++) {
        al_auto(al_freep) char *name = al_asprintf("%sfile", path.buf);

        if (depth <= AL_GITDIR_DEPTH_MAX) {
            tmpdir_write(s->w->repo, name, "x");
            assert_int_equal(read_gitdir(s), there + depth);
            take(s, NULL);
        } else {
            tmpdir_mkdir(s->w->repo, path.buf);
        }
        al_str_adds(&path, "d/");
    }
    assert_too_much(s, read_gitdir(s), "more than 8 levels of directories");
}

static void begins_no_object_larger_than_a_pack_can_hold(void **state)
{
    struct saver *s = *state;
    struct al_pack *pack = al_pack_new(s->w->state->fd, false, true);

    for (uint64_t size = AL_PACK_OBJECT_MAX_BYTES - 2; size <= AL_PACK_OBJECT_MAX_BYTES; size++) {
        bool fits = size < AL_PACK_OBJECT_MAX_BYTES;

        al_error_clear(&s->w->err);
        assert_int_equal(al_pack_begin(pack, AL_OBJECT_BLOB, size, &s->w->err) == 0, fits);
        if (fits)
            assert_int_equal(al_pack_undo(pack, &s->w->err), 0);
    }
    al_pack_free(pack);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(takes_as_many_untracked_files_as_the_limit),
        SAVER_TEST(takes_as_many_tracked_files_as_the_limit),
        SAVER_TEST(counts_a_conflict_once),
        SAVER_TEST(takes_as_many_nested_files_as_the_limit),
        SAVER_TEST(takes_names_up_to_so_many_bytes),
        SAVER_TEST(walks_nested_directories_up_to_the_limit),
        SAVER_TEST(takes_as_many_loose_references_as_the_limit),
        SAVER_TEST(takes_as_many_packed_references_as_the_limit),
        SAVER_TEST(counts_loose_and_packed_references_together),
        SAVER_TEST(takes_references_as_deep_as_the_limit),
        SAVER_TEST(takes_as_many_files_of_an_operation_as_the_limit),
        SAVER_TEST(takes_files_of_an_operation_as_large_as_the_limit),
        SAVER_TEST(takes_as_many_bytes_of_an_operation_as_the_limit),
        SAVER_TEST(takes_directories_of_an_operation_as_deep_as_the_limit),
        SAVER_TEST(begins_no_object_larger_than_a_pack_can_hold),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/caps", tests, NULL, NULL);
}
