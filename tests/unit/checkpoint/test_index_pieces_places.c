// SPDX-License-Identifier: Apache-2.0
/* checkpoint/index_pieces.h, index_same.h: a piece is reused where it means the same. */
#include <endian.h>
#include <sched.h>

#include "checkpoint/index_same.h"
#include "tests/unit/checkpoint/index_pieces_lib.h"

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

/* --- An index by hand --- */

/* As in index_pieces.c: a piece of more than 2,048 bytes ends after such a path. */
static bool is_last_path(const char *path)
{
    uint32_t hash = 2166136261u;

    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * 16777619u;
    return ((hash ^ hash >> 15) & 127) == 0;
}

/* Add an entry in version 4, which continues the path of the one before. */
static void add_entry(struct al_str *index, struct al_str *last, const char *name)
{
    const uint32_t mode = htobe32(0100644);
    const uint16_t flags = htobe16((uint16_t)strlen(name));
    unsigned char fixed[AL_INDEX_STAT_BYTES + 20 + 2] = { 0 };
    size_t same = 0;

    while (name[same] && name[same] == last->buf[same])
        same++;
    memcpy(fixed + 24, &mode, sizeof(mode));
    memset(fixed + AL_INDEX_STAT_BYTES, 7, 20);
    memcpy(fixed + AL_INDEX_STAT_BYTES + 20, &flags, sizeof(flags));
    al_str_add(index, (const char *)fixed, sizeof(fixed));
    al_str_addc(index, (char)(last->len - same));
    al_str_add(index, name + same, strlen(name + same) + 1);
    al_str_reset(last);
    al_str_adds(last, name);
}

/* Add 41 entries, of which the last one alone ends a piece. */
static void add_piece(struct al_str *index, struct al_str *last, const char *prefix)
{
    unsigned from = 10000, at = from;
    al_auto(al_freep) char *end = NULL;

    do { /* a path that ends a piece, and none in the forty before it */
        al_auto(al_freep) char *name = al_asprintf("%s%u", prefix, ++at);

        if (!is_last_path(name))
            continue;
        if (at - from > 40)
            end = al_strdup(name);
        from = at;
    } while (!end);
    for (unsigned i = at - 40; i <= at; i++) {
        al_auto(al_freep) char *name = al_asprintf("%s%u", prefix, i);

        add_entry(index, last, name);
    }
}

/* Write an index whose last piece are files in the directory of the last of these. */
static void write_by_hand(struct saver *s, const char *const *prefixes, size_t count)
{
    al_auto(al_str_clear) struct al_str index = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str last = AL_STR_INIT;
    const uint32_t numbers[] = { htobe32(4), htobe32((uint32_t)count * 41 + 20) };

    al_str_adds(&index, "DIRC");
    al_str_add(&index, (const char *)numbers, sizeof(numbers));
    for (size_t i = 0; i < count; i++)
        add_piece(&index, &last, prefixes[i]);
    for (unsigned i = 10; i < 30; i++) {
        al_auto(al_freep) char *name = al_asprintf("%.2sg%u", prefixes[count - 1], i);

        add_entry(&index, &last, name);
    }
    for (int i = 0; i < 20; i++)
        al_str_addc(&index, '\0'); /* no checksum */
    tmpdir_write_bytes(s->w->repo, ".git/index", index.buf, index.len);
}

/* The last piece has the same bytes, and other paths.  Only in an index that is not in order can it
 * be compared with the one before: else that has been passed. */
static void continues_the_path_before_a_piece(void **state)
{
    static const char *const now[] = { "p/f1", "o/f" };
    struct saver *s = *state;
    al_auto(known_clear) struct known before = known_begin();

    write_by_hand(s, (const char *const[]){ "p/f" }, 1);
    (void)compare(s, &before);
    assert_int_equal(before.pieces.count, 2);
    assert_int_equal(compare(s, &before), 0);
    write_by_hand(s, now, 2);
    (void)compare(s, &before);
    assert_int_equal(before.pieces.count, 3);
    assert_string_equal(before.pieces.ends.buf + before.pieces.ends.len - 6, "o/g29");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(reuses_pieces_of_a_large_index),
        SAVER_TEST(tells_which_pieces_are_the_same),
        SAVER_TEST(continues_the_path_before_a_piece),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/index_pieces_places", tests, NULL, NULL);
}
