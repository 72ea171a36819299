// SPDX-License-Identifier: Apache-2.0
/* checkpoint/index_pieces.h: what is reused of the index before changes nothing of the result. */
#include "checkpoint/index_pieces.h"

#include <sched.h>

#include "checkpoint/index_same.h"
#include "tests/unit/checkpoint/lib.h"

#define FILES 1600 /* about twelve pieces */
#define DIRS  16
#define ROOM  4096 /* of something else, at the beginning of the file of ids */

/** What is known of an index, with the file of the ids. */
struct known {
    struct al_index_pieces pieces;
    struct al_oid_set oids; /* all that entries name */
    uint64_t oids_at;
};

static struct known known_begin(void)
{
    return (struct known){ .pieces = AL_INDEX_PIECES_INIT };
}

static void known_clear(struct known *known)
{
    al_index_pieces_clear(&known->pieces);
    al_oid_set_clear(&known->oids);
}

/* Put the index into the store. */
static struct al_index_put put_index(struct saver *s, struct known *known, struct al_oid *ret_tree)
{
    struct al_index_put put = AL_INDEX_PUT_INIT;
    struct al_run_limits budget = long_budget();
    struct al_deadline deadline = al_deadline_begin(&budget);
    struct al_objects objects;
    struct stat st;

    put.fd = openat(s->w->repo->fd, ".git/index", O_RDONLY | O_CLOEXEC);
    assert_true(put.fd >= 0);
    assert_int_equal(fstat(put.fd, &st), 0);
    put.before = known ? &known->pieces : NULL;
    put.before_fd = known ? openat(s->w->repo->fd, "ids", O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    put.before_room = ROOM;
    put.oids_at = known ? known->oids_at : 0;
    put.deadline = &deadline;
    al_objects_init(&objects, s->store->pack_fd, -1, s->store->sha256);
    assert_int_equal(al_index_put(&put, &objects, ret_tree, &s->w->err), 0);
    assert_int_equal(al_objects_finish(&objects, &s->w->err), 0);
    assert_int_equal(put.bytes, st.st_size);
    al_objects_clear(&objects);
    if (known) {
        assert_int_equal(
            pwrite(put.before_fd, put.oids.buf, put.oids.len, (off_t)(ROOM + put.oids_at)),
            put.oids.len);
        known->oids_at += put.oids.len;
    }
    al_close(put.before_fd);
    al_close(put.fd);
    put.fd = put.before_fd = -1;
    return put;
}

/* All but the place of the ids in the cache. */
static void assert_same_pieces(const struct al_index_pieces *a, const struct al_index_pieces *b)
{
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        struct al_index_piece x = a->items[i], y = b->items[i];

        x.oids_at = y.oids_at = 0;
        assert_memory_equal(&x, &y, sizeof(x));
    }
    assert_int_equal(a->ends.len, b->ends.len);
    assert_memory_equal(a->ends.buf, b->ends.buf, a->ends.len);
}

/* Every object that is new in the index was found, and none is gone that was not there. */
static void assert_new_objects(const struct al_index_put *put, const struct al_index_put *alone,
                               const struct al_oid_set *before)
{
    al_auto(al_oid_set_clear) struct al_oid_set added = { .count = 0 };

    for (size_t i = 0; i < put->added.count; i++)
        (void)al_oid_set_add(&added, &put->added.items[i]);
    for (size_t i = 0; i < put->gone.count; i++)
        assert_true(al_oid_set_has(before, &put->gone.items[i]));
    for (size_t i = 0; i < alone->added.count; i++)
        assert_true(al_oid_set_has(before, &alone->added.items[i]) ||
                    al_oid_set_has(&added, &alone->added.items[i]));
}

/* Read the index with the pieces before and without.  Those of this index are known afterwards.
 * Returns the number of entries that were parsed and have objects. */
static size_t compare(struct saver *s, struct known *known)
{
    struct al_oid tree, tree_alone;
    al_auto(al_index_put_clear) struct al_index_put put = put_index(s, known, &tree);
    al_auto(al_index_put_clear) struct al_index_put alone = put_index(s, NULL, &tree_alone);
    size_t parsed = put.added.count;

    assert_true(al_oid_equal(&tree, &tree_alone));
    assert_int_equal(put.end, alone.end);
    assert_int_equal(put.flags, alone.flags);
    assert_same_pieces(&put.now, &alone.now);
    assert_new_objects(&put, &alone, &known->oids);
    assert_int_equal(alone.gone.count, 0);
    al_oid_set_clear(&known->oids);
    for (size_t i = 0; i < alone.added.count; i++)
        (void)al_oid_set_add(&known->oids, &alone.added.items[i]);
    al_index_pieces_clear(&known->pieces);
    known->pieces = put.now;
    put.now = AL_INDEX_PIECES_INIT;
    return parsed;
}

/* A hundred files, and the same entries in fifteen more directories. */
static void make_entries(struct saver *s)
{
    struct tmpdir *repo = s->w->repo;
    al_auto(al_freep) char *tree = NULL;

    for (int i = 0; i < FILES / DIRS; i++) {
        al_auto(al_freep) char *name = al_asprintf("d00/file%02d", i);
        al_auto(al_freep) char *text = al_asprintf("%d\n", i);

        tmpdir_write(repo, name, text);
    }
    git_ok(repo, "add", "-A", NULL);
    tree = git_output(repo, "write-tree", "--prefix=d00/", NULL);
    tree[strcspn(tree, "\n")] = '\0';
    for (int i = 1; i < DIRS; i++) {
        al_auto(al_freep) char *prefix = al_asprintf("--prefix=d%02d/", i);

        git_ok(repo, "read-tree", prefix, tree, NULL);
    }
}

static void stage(struct saver *s, const char *name, const char *text)
{
    tmpdir_write(s->w->repo, name, text);
    git_ok(s->w->repo, "add", name, NULL);
}

/* Changes at the beginning, in the middle and at the end, in every version of the format. */
static void parses_what_changed(void **state)
{
    static const char *const names[] = { "a", "d00/file00", "d07/file0750", "d15/file99", "zz" };
    static const char *const versions[] = { "2", "4" };
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(known_clear) struct known before = known_begin();

    make_entries(s);
    for (size_t v = 0; v < COUNT(versions); v++) {
        git_ok(repo, "update-index", "--index-version", versions[v], NULL);
        assert_true(compare(s, &before) >= FILES); /* nothing is reused across versions */
        assert_int_equal(before.pieces.version, v ? 4 : 2);
        assert_true(before.pieces.count > 5);
        assert_int_equal(compare(s, &before), 0);
        for (size_t i = 0; i < COUNT(names); i++) {
            size_t parsed;

            stage(s, names[i], versions[v]);
            parsed = compare(s, &before);
            assert_true(parsed > 0 && parsed < FILES / 2);
            git_ok(repo, "update-index", "--force-remove", names[i], NULL);
            assert_true(compare(s, &before) < FILES / 2);
            git_ok(repo, "add", names[i], NULL);
            assert_true(compare(s, &before) < FILES / 2);
        }
        git_ok(repo, "rm", "-q", "--cached", "a", "zz", NULL);
        (void)compare(s, &before);
    }
}

/* --- Pieces that a thread looks at --- */

/* Over a hundred pieces: the entries again and again in further directories. */
static void make_many_entries(struct saver *s)
{
    struct tmpdir *repo = s->w->repo;

    make_entries(s);
    for (int i = 0; i < 4; i++) {
        al_auto(al_freep) char *prefix = al_asprintf("--prefix=m%d/", i);
        al_auto(al_freep) char *tree = git_output(repo, "write-tree", NULL);

        tree[strcspn(tree, "\n")] = '\0';
        git_ok(repo, "read-tree", prefix, tree, NULL);
    }
}

/* Nothing moves, some move, all move. */
static void reuses_pieces_of_a_large_index(void **state)
{
    static const char *const names[] = { "d00/file00", "m3/m2/d07/file07", "m3/zz", "a", "zz" };
    static const char *const versions[] = { "2", "4" };
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(known_clear) struct known before = known_begin();

    make_many_entries(s);
    for (size_t v = 0; v < COUNT(versions); v++) {
        git_ok(repo, "update-index", "--index-version", versions[v], NULL);
        (void)compare(s, &before);
        assert_true(before.pieces.count > 128);
        assert_int_equal(compare(s, &before), 0);
        for (size_t i = 0; i < COUNT(names); i++) {
            stage(s, names[i], versions[v]);
            assert_true(compare(s, &before) < FILES);
            git_ok(repo, "update-index", "--force-remove", names[i], NULL);
            assert_true(compare(s, &before) < FILES);
        }
    }
}

/* The thread tells of the other half what is true, and of the first half nothing. */
static void tells_which_pieces_are_the_same(void **state)
{
    struct saver *s = *state;
    al_auto(known_clear) struct known before = known_begin();
    al_auto(al_closep) int fd = -1;
    struct al_index_same *same;
    uint64_t offset = AL_INDEX_HEADER_BYTES;
    size_t count, changed;

    make_many_entries(s);
    (void)compare(s, &before);
    count = before.pieces.count;
    changed = count * 3 / 4;
    before.pieces.items[changed].oid.bytes[0] ^= 1;
    fd = openat(s->w->repo->fd, ".git/index", O_RDONLY | O_CLOEXEC);
    same = al_index_same_begin(fd, &before.pieces, false);
    assert_non_null(same);
    for (size_t i = 0; i < count - 1; i++)
        offset += before.pieces.items[i].bytes;
    while (!al_index_same_has(same, count - 1, offset))
        (void)sched_yield(); /* it is the last one that is looked at */
    offset = AL_INDEX_HEADER_BYTES;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(al_index_same_has(same, i, offset), i >= count / 2 && i != changed);
        assert_false(al_index_same_has(same, i, offset + 1));
        offset += before.pieces.items[i].bytes;
    }
    al_index_same_free(same);
    before.pieces.count = 127;
    assert_null(al_index_same_begin(fd, &before.pieces, false));
    before.pieces.count = 128;
    same = al_index_same_begin(fd, &before.pieces, false);
    assert_non_null(same);
    al_index_same_free(same); /* at once */
    before.pieces.count = count;
    assert_null(al_index_same_begin(fd, NULL, false));
    assert_false(al_index_same_has(NULL, 0, AL_INDEX_HEADER_BYTES));
}

/* Marks make version 3, and are known of pieces that are not parsed. */
static void knows_the_marks_of_what_is_reused(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(known_clear) struct known before = known_begin();
    struct al_oid tree;

    make_entries(s);
    (void)compare(s, &before);
    git_ok(repo, "update-index", "--skip-worktree", "d15/file99", NULL);
    (void)compare(s, &before);
    assert_int_equal(before.pieces.version, 3);
    for (int marked = 1; marked >= 0; marked--) {
        al_auto(al_index_put_clear) struct al_index_put put = AL_INDEX_PUT_INIT;

        git_ok(repo, "update-index", marked ? "--assume-unchanged" : "--no-assume-unchanged",
               "d15/file98", NULL);
        git_ok(repo, "update-index", "--no-skip-worktree", "d15/file99", NULL);
        (void)compare(s, &before);
        stage(s, "d00/file00", marked ? "1\n" : "0\n");
        put = put_index(s, &before, &tree);
        assert_int_equal(put.flags & AL_INDEX_MARKS, marked ? AL_INDEX_MARKS : 0);
        (void)compare(s, &before);
    }
}

/* Removed directories, conflicts, submodules, no entries. */
static void reads_what_git_makes(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(known_clear) struct known before = known_begin();
    al_auto(al_freep) char *tree = NULL;

    make_entries(s);
    (void)compare(s, &before);
    tree = git_output(repo, "write-tree", "--prefix=d03/", NULL);
    tree[strcspn(tree, "\n")] = '\0';
    git_ok(repo, "read-tree", "--prefix=moved/", tree, NULL);
    git_ok(repo, "rm", "-q", "-r", "--cached", "d03", NULL);
    (void)compare(s, &before);
    git_ok(repo, "rm", "-q", "-r", "--cached", "d05", "d06", "d15", NULL);
    (void)compare(s, &before);
    git_ok(repo, "read-tree", "--prefix=d06/", tree, NULL);
    (void)compare(s, &before);
    git_ok(repo, "reset", "-q", NULL);
    (void)compare(s, &before);
    make_entries(s);
    git_ok(repo, "update-index", "--add", "--cacheinfo",
           "160000,1111111111111111111111111111111111111111,d08/sub", NULL);
    (void)compare(s, &before);
    git_ok(repo, "commit", "-q", "-m", "many", NULL);
    git_ok(repo, "update-ref", "refs/heads/side", "HEAD", NULL);
    git_ok(repo, "symbolic-ref", "HEAD", "refs/heads/side", NULL);
    git_fixture_commit(repo, "a.txt", "theirs\n", "theirs");
    (void)compare(s, &before);
    git_ok(repo, "symbolic-ref", "HEAD", "refs/heads/main", NULL);
    git_ok(repo, "reset", "-q", NULL);
    git_fixture_commit(repo, "a.txt", "ours\n", "ours");
    git_ok(repo, "read-tree", "-m", "HEAD~", "HEAD", "side", NULL);
    (void)compare(s, &before);
    git_ok(repo, "read-tree", "--empty", NULL);
    (void)compare(s, &before);
    assert_int_equal(before.pieces.count, 0);
}

/* Whatever the pieces before say: only bytes with the same hash are reused. */
static void relies_on_no_wrong_piece(void **state)
{
    struct saver *s = *state;
    al_auto(known_clear) struct known before = known_begin();

    make_entries(s);
    (void)compare(s, &before);
    for (int kind = 0; kind < 8; kind++) {
        struct al_index_piece *piece = &before.pieces.items[before.pieces.count / 2];

        piece->oid.bytes[0] ^= kind == 0 || kind > 5;
        piece->oids_sum ^= kind == 6;
        piece->noids = kind == 7 ? UINT32_MAX : piece->noids;
        piece->bytes += kind == 1 ? 8 : 0;
        piece->bytes -= kind == 2 ? 8 : 0;
        piece->bytes = kind == 3 ? UINT32_MAX : piece->bytes;
        piece->nentries = kind == 4 ? UINT32_MAX : piece->nentries;
        before.pieces.version += kind == 5;
        assert_true(compare(s, &before) > 0);
    }
    assert_int_equal(compare(s, &before), 0);
}

/* Cut anywhere, the file is put with all its bytes, and is not relied on. */
static void puts_what_is_no_index(void **state)
{
    static const off_t sizes[] = { 100000, 60000, 12 + 72, 12 + 71, 13, 12, 11, 0 };
    struct saver *s = *state;
    al_auto(known_clear) struct known before = known_begin();
    al_auto(al_freep) char *path = al_fs_join(s->w->repo->path, ".git/index");
    struct stat st;

    make_entries(s);
    (void)compare(s, &before);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > sizes[0]);
    for (size_t i = 0; i <= COUNT(sizes); i++) {
        struct al_oid tree, alone;
        al_auto(al_index_put_clear) struct al_index_put put = AL_INDEX_PUT_INIT;
        al_auto(al_index_put_clear) struct al_index_put other = AL_INDEX_PUT_INIT;

        assert_int_equal(truncate(path, i ? sizes[i - 1] : st.st_size - 1), 0);
        put = put_index(s, &before, &tree);
        other = put_index(s, NULL, &alone);
        assert_int_equal(put.end, AL_INDEX_NOT_UNDERSTOOD);
        assert_int_equal(other.end, AL_INDEX_NOT_UNDERSTOOD);
        assert_true(al_oid_equal(&tree, &alone));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(parses_what_changed),
        SAVER_TEST(knows_the_marks_of_what_is_reused),
        SAVER_TEST(reads_what_git_makes),
        SAVER_TEST(relies_on_no_wrong_piece),
        SAVER_TEST(puts_what_is_no_index),
        SAVER_TEST(reuses_pieces_of_a_large_index),
        SAVER_TEST(tells_which_pieces_are_the_same),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/index_pieces", tests, NULL, NULL);
}
