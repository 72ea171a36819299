// SPDX-License-Identifier: Apache-2.0
/* Putting an index with what was reused of the one before, and without. */
#ifndef TESTS_UNIT_CHECKPOINT_INDEX_PIECES_LIB_H
#define TESTS_UNIT_CHECKPOINT_INDEX_PIECES_LIB_H

#include "checkpoint/index_pieces.h"
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

static inline struct known known_begin(void)
{
    return (struct known){ .pieces = AL_INDEX_PIECES_INIT };
}

static inline void known_clear(struct known *known)
{
    al_index_pieces_clear(&known->pieces);
    al_oid_set_clear(&known->oids);
}

/* Put the index into the store. */
static inline struct al_index_put put_index(struct saver *s, struct known *known,
                                            struct al_oid *ret_tree)
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
static inline void assert_same_pieces(const struct al_index_pieces *a,
                                      const struct al_index_pieces *b)
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
static inline void assert_new_objects(const struct al_index_put *put,
                                      const struct al_index_put *alone,
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
static inline size_t compare(struct saver *s, struct known *known)
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
static inline void make_entries(struct saver *s)
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

static inline void stage(struct saver *s, const char *name, const char *text)
{
    tmpdir_write(s->w->repo, name, text);
    git_ok(s->w->repo, "add", name, NULL);
}

#endif
