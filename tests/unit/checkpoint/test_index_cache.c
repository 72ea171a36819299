// SPDX-License-Identifier: Apache-2.0
/* checkpoint/index_cache.h: whether an index is the one that was read. */
#include "checkpoint/index_cache.h"

#include "tests/unit/checkpoint/lib.h"

/** A cache of the repository's index as it is. */
struct caching {
    struct al_index_cache cache;
    struct stat st;
    int fd;
    bool sha256;
};

/* Fill the cache in as if the index was read so long after its last change. */
static struct caching begin(struct saver *s, int64_t after_ns)
{
    struct caching c = { .cache = AL_INDEX_CACHE_INIT, .sha256 = s->store->sha256 };
    struct al_file_id id;

    memcpy(c.cache.reference, "refs/before/x", sizeof("refs/before/x"));
    c.fd = openat(s->w->repo->fd, ".git/index", O_RDWR | O_CLOEXEC);
    assert_true(c.fd >= 0);
    assert_int_equal(fstat(c.fd, &c.st), 0);
    id = al_file_id_from(&c.st);
    al_stat_cache_fill(&c.cache.index, &c.st, id.ctime_ns + after_ns);
    assert_true(al_index_cache_read_end(c.fd, &c.st, c.sha256, &c.cache.end));
    return c;
}

static void caching_clear(struct caching *c)
{
    al_index_cache_clear(&c->cache);
    al_closep(&c->fd);
}

static bool is_current(const struct caching *c)
{
    return al_index_cache_is_current(&c->cache, c->fd, &c->st, c->sha256);
}

/* Invert the byte so many bytes before the end.  The stat data is that from before: as a change
 * within the same tick leaves it. */
static void invert(const struct caching *c, off_t from_end)
{
    unsigned char byte;

    assert_int_equal(pread(c->fd, &byte, 1, c->st.st_size - from_end), 1);
    byte = (unsigned char)~byte;
    assert_int_equal(pwrite(c->fd, &byte, 1, c->st.st_size - from_end), 1);
}

/* A call reads the index at once after git wrote it.  The next call need not read it again. */
static void an_index_read_at_once_is_current_while_its_end_is(void **state)
{
    al_auto(caching_clear) struct caching c = begin(*state, 1000);
    const off_t bytes = (off_t)al_oid_bytes(c.sha256);

    assert_true(c.cache.index.racy);
    assert_true(is_current(&c));
    for (off_t at = 1; at <= bytes; at += bytes - 1) {
        invert(&c, at);
        assert_false(is_current(&c));
        invert(&c, at);
        assert_true(is_current(&c));
    }
}

/* Without a checksum nothing tells two such files apart (index.skipHash). */
static void an_index_without_a_checksum_is_read_again(void **state)
{
    al_auto(caching_clear) struct caching c = begin(*state, 1000);
    static const unsigned char zeros[32];
    const size_t bytes = al_oid_bytes(c.sha256);

    assert_int_equal(pwrite(c.fd, zeros, bytes, c.st.st_size - (off_t)bytes), bytes);
    assert_true(al_index_cache_read_end(c.fd, &c.st, c.sha256, &c.cache.end));
    assert_true(al_oid_is_none(&c.cache.end));
    assert_false(is_current(&c));
    c.cache.index.racy = false;
    assert_true(is_current(&c));
}

static void a_cut_index_has_no_end(void **state)
{
    al_auto(caching_clear) struct caching c = begin(*state, 1000);

    for (off_t size = (off_t)al_oid_bytes(c.sha256); size >= 0; size -= 19) {
        struct al_oid end;

        assert_int_equal(ftruncate(c.fd, size), 0);
        assert_false(is_current(&c)); /* its stat data says more than there is */
        assert_int_equal(fstat(c.fd, &c.st), 0);
        assert_int_equal(al_index_cache_read_end(c.fd, &c.st, c.sha256, &end),
                         size == (off_t)al_oid_bytes(c.sha256));
        c.st.st_size = 4096;
    }
}

/* Whatever the end is: other stat data is another index. */
static void other_stat_data_is_another_index(void **state)
{
    const int64_t settled_ns = 3 * INT64_C(1000000000);

    for (int racy = 0; racy < 2; racy++) {
        al_auto(caching_clear) struct caching c = begin(*state, racy ? 1000 : settled_ns);

        assert_int_equal(c.cache.index.racy, racy);
        assert_true(is_current(&c));
        c.st.st_ino++;
        assert_false(is_current(&c));
        c.st.st_ino--;
        c.st.st_ctim.tv_nsec ^= 1;
        assert_false(is_current(&c));
        c.st.st_ctim.tv_nsec ^= 1;
        c.st.st_mode ^= 0100;
        assert_false(is_current(&c));
        c.st.st_mode ^= 0100;
        c.cache.reference[0] = '\0'; /* no checkpoint has it */
        assert_false(is_current(&c));
    }
}

/* A cache of one piece, and its file. */
static struct caching begin_file(struct saver *s, const char *end)
{
    struct caching c = begin(s, 1000);
    struct al_index_piece piece;

    memset(&piece, 0, sizeof(piece));
    piece.bytes = 80;
    c.cache.pieces.items = al_calloc(1, sizeof(piece));
    c.cache.pieces.items[0] = piece;
    c.cache.pieces.count = c.cache.pieces.capacity = 1;
    al_str_add(&c.cache.pieces.ends, end, strlen(end) + 1);
    al_str_adds(&c.cache.oids, "ids of the first");
    assert_int_equal(al_index_cache_save(&c.cache, s->store->dir_fd, c.sha256), 0);
    return c;
}

static struct al_index_cache load(struct saver *s)
{
    struct al_index_cache cache;

    al_index_cache_load(&cache, s->store->dir_fd, s->store->sha256);
    return cache;
}

static void keeps_all_of_it_in_the_file(void **state)
{
    struct saver *s = *state;
    al_auto(caching_clear) struct caching c = begin_file(s, "a.txt");
    al_auto(al_index_cache_clear) struct al_index_cache read = load(s);
    char ids[64] = "";

    assert_true(al_oid_equal(&read.end, &c.cache.end));
    assert_true(al_index_cache_is_current(&read, c.fd, &c.st, c.sha256));
    assert_int_equal(read.pieces.count, 1);
    assert_memory_equal(read.pieces.items, c.cache.pieces.items, sizeof(*read.pieces.items));
    assert_string_equal(read.pieces.ends.buf, "a.txt");
    assert_int_equal(read.oids_at, strlen("ids of the first"));
    al_str_adds(&read.oids, " and more");
    assert_int_equal(al_index_cache_save(&read, s->store->dir_fd, c.sha256), 0);
    al_index_cache_clear(&read);
    read = load(s);
    assert_int_equal(read.oids_at, strlen("ids of the first and more"));
    assert_int_equal(pread(read.fd, ids, sizeof(ids), (off_t)read.room), read.oids_at);
    assert_string_equal(ids, "ids of the first and more");
    al_index_cache_clear(&read);
    al_index_cache_load(&read, s->store->dir_fd, !c.sha256); /* of another kind of store */
    assert_string_equal(read.reference, "");
}

/* Of whatever a write was cut short, or which byte another program changed. */
static void relies_on_no_torn_file(void **state)
{
    struct saver *s = *state;
    al_auto(caching_clear) struct caching c = begin_file(s, "a.txt");
    al_auto(al_index_cache_clear) struct al_index_cache read = load(s);
    al_auto(al_freep) char *path = al_fs_join(s->store->dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDWR | O_CLOEXEC);
    const off_t room = (off_t)read.room;
    char byte;

    (void)c;
    assert_true(fd >= 0);
    for (off_t at = 0; at < 300; at++) { /* and there is more */
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte = (char)~byte;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        al_index_cache_clear(&read);
        read = load(s);
        assert_string_equal(read.reference, "");
        byte = (char)~byte;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    al_index_cache_clear(&read);
    read = load(s);
    assert_string_equal(read.reference, "refs/before/x");
    for (off_t size = 300; size >= 0; size -= 50) {
        assert_int_equal(ftruncate(fd, room), 0); /* zeros, as after a power failure */
        assert_int_equal(ftruncate(fd, size), 0);
        al_index_cache_clear(&read);
        read = load(s);
        assert_string_equal(read.reference, "");
    }
}

/* The ids only tell what need not be saved again. */
static void can_be_without_the_ids(void **state)
{
    struct saver *s = *state;
    al_auto(caching_clear) struct caching c = begin_file(s, "a.txt");
    al_auto(al_index_cache_clear) struct al_index_cache read = load(s);
    al_auto(al_freep) char *path = al_fs_join(s->store->dir, "index");

    (void)c;
    assert_int_equal(truncate(path, (off_t)read.room), 0);
    al_index_cache_clear(&read);
    read = load(s);
    assert_string_equal(read.reference, "refs/before/x");
}

/* What no longer fits is no cache, and the next one begins with more room. */
static void begins_anew_when_the_room_is_full(void **state)
{
    struct saver *s = *state;
    al_auto(caching_clear) struct caching c = begin_file(s, "a.txt");
    al_auto(al_index_cache_clear) struct al_index_cache read = load(s);
    const uint64_t room = read.room;

    while (read.pieces.ends.len < room)
        al_str_adds(&read.pieces.ends, "a long name");
    assert_int_equal(al_index_cache_save(&read, s->store->dir_fd, c.sha256), -EFBIG);
    al_index_cache_clear(&read);
    read = load(s);
    assert_string_equal(read.reference, "");
    caching_clear(&c);
    c = begin_file(s, "b.txt");
    read = load(s);
    assert_string_equal(read.reference, "refs/before/x");
    assert_int_equal(read.room, room);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(an_index_read_at_once_is_current_while_its_end_is),
        SAVER_TEST(an_index_without_a_checksum_is_read_again),
        SAVER_TEST(a_cut_index_has_no_end),
        SAVER_TEST(other_stat_data_is_another_index),
        SAVER_TEST(keeps_all_of_it_in_the_file),
        SAVER_TEST(relies_on_no_torn_file),
        SAVER_TEST(can_be_without_the_ids),
        SAVER_TEST(begins_anew_when_the_room_is_full),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/index_cache", tests, NULL, NULL);
}
