// SPDX-License-Identifier: Apache-2.0
/* odb/pack_write.h: git reads what is written.  test_pack_unfinished.c has what it must not see,
 * test_caps.c the largest object. */
#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/odb/pack_lib.h"

/* The size of an object takes 4 bits, then 7 a byte; the buffer has 128 KiB. */
static void writes_objects_of_every_size(void **state)
{
    static const size_t sizes[] = { 0,      1,      15,     16,     2047,   2048,  4096,
                                    131071, 131072, 131073, 262143, 262144, 300001 };
    struct pack_world *w = *state;
    struct al_oid oids[COUNT(sizes)];

    for (size_t i = 0; i < COUNT(sizes); i++) {
        al_auto(al_freep) char *bytes = noise(sizes[i], (uint32_t)i + 1);

        put(w, bytes, sizes[i], &oids[i]);
    }
    finish(w);
    assert_sound(w, 1);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        al_auto(al_freep) char *bytes = noise(sizes[i], (uint32_t)i + 1), *size = NULL;
        al_auto(al_freep) char *expected = al_asprintf("%zu\n", sizes[i]);
        char id[AL_OID_TEXT];
        struct al_oid wanted;

        al_oid_of(w->sha256, AL_OBJECT_BLOB, bytes, sizes[i], &wanted);
        assert_true(al_oid_equal(&wanted, &oids[i]));
        al_oid_text(&oids[i], w->sha256, id);
        size = git_output(w->repo, "cat-file", "-s", id, NULL);
        assert_string_equal(size, expected);
    }
}

static void writes_objects_of_every_size_uncompressed(void **state)
{
    struct pack_world *w = *state;

    al_pack_store_only(w->pack);
    writes_objects_of_every_size(state);
}

/* git fsck checks the number of objects and the checksum. */
static void is_sound_whatever_number_was_expected(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(300000, 3);

    for (uint32_t expected = 0; expected <= 4; expected++) {
        struct al_oid oid;

        al_pack_expect(w->pack, expected);
        for (size_t i = 0; i < 3; i++)
            put(w, bytes + 10 * expected + i, 200000, &oid);
        finish(w);
        assert_sound(w, expected + 1);
        assert_true(git_has(w, &oid));
    }
}

static void is_sound_when_less_came_than_was_expected(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(300000, 3);
    struct al_oid kept, gone, last;

    for (size_t len = 10; len <= 300000; len += 299990) { /* in the buffer, and beyond it */
        al_pack_expect(w->pack, 2);
        put(w, bytes, len / 2, &kept);
        put(w, bytes, len, &gone);
        assert_int_equal(al_pack_undo(w->pack, &w->err), 0);
        put(w, bytes, len - 1, &last);
        finish(w);
        assert_sound(w, len < 300000 ? 1 : 2);
        assert_true(git_has(w, &kept));
        assert_true(git_has(w, &last));
        assert_false(git_has(w, &gone));
    }
}

#define MUCH ((size_t)3 << 20) /* more than a thread lets wait */

static void is_sound_when_a_thread_writes(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(MUCH, 5);
    struct al_oid small[2], large, gone;

    for (uint32_t expected = 3; expected <= 4; expected++) {
        al_pack_free(w->pack);
        w->pack = al_pack_new(w->packs->fd, w->sha256, true);
        al_pack_store_only(w->pack);
        al_pack_expect(w->pack, expected);
        put(w, bytes, 10, &small[0]);
        put(w, bytes, MUCH, &large);
        if (expected == 4) {
            put(w, bytes, MUCH - 1, &gone);
            assert_int_equal(al_pack_undo(w->pack, &w->err), 0);
        }
        put(w, bytes, 11, &small[1]);
        finish(w);
        assert_true(git_has(w, &small[0]) && git_has(w, &small[1]) && git_has(w, &large));
    }
    assert_false(git_has(w, &gone));
    assert_sound(w, 1); /* both are the same */
}

static void is_given_up_while_a_thread_writes(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(MUCH, 5);
    struct al_oid oid;

    al_pack_expect(w->pack, 2);
    put(w, bytes, MUCH, &oid);
    al_pack_free(w->pack);
    w->pack = NULL;
    assert_sound(w, 0);
}

/* The failure is that of a buffer before. */
static void says_when_a_thread_cannot_write(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(MUCH, 5);
    struct rlimit before, limit;
    struct al_oid oid;
    int r;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){ .rlim_cur = MUCH / 2, .rlim_max = before.rlim_max };
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    al_pack_store_only(w->pack);
    al_pack_expect(w->pack, 1);
    r = al_pack_begin(w->pack, AL_OBJECT_BLOB, MUCH, &w->err);
    if (r == 0)
        r = al_pack_add(w->pack, bytes, MUCH, &w->err);
    if (r == 0)
        r = al_pack_end(w->pack, &oid, &w->err);
    if (r == 0)
        r = al_pack_finish(w->pack, &w->err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(r, AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "File too large"));
    al_pack_free(w->pack);
    w->pack = NULL;
    assert_sound(w, 0);
}

static void writes_trees_and_commits(void **state)
{
    struct pack_world *w = *state;
    char id[AL_OID_TEXT], tree[64] = "100644 file";
    al_auto(al_freep) char *commit = NULL, *listed = NULL, *expected = NULL;
    size_t oid_bytes = al_oid_bytes(w->sha256);
    struct al_oid oid;

    put_text(w, "content\n", &oid);
    al_oid_text(&oid, w->sha256, id);
    expected = al_asprintf("100644 blob %s\tfile\n", id);
    memcpy(tree + 12, oid.bytes, oid_bytes);
    assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_TREE, 12 + oid_bytes, &w->err), 0);
    assert_int_equal(al_pack_add(w->pack, tree, 12 + oid_bytes, &w->err), 0);
    assert_int_equal(al_pack_end(w->pack, &oid, &w->err), 0);
    al_oid_text(&oid, w->sha256, id);
    commit = al_asprintf("tree %s\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nm\n", id);
    assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_COMMIT, strlen(commit), &w->err), 0);
    assert_int_equal(al_pack_add(w->pack, commit, strlen(commit), &w->err), 0);
    assert_int_equal(al_pack_end(w->pack, &oid, &w->err), 0);
    finish(w);
    assert_sound(w, 1);
    al_oid_text(&oid, w->sha256, id);
    listed = git_output(w->repo, "ls-tree", id, NULL);
    assert_string_equal(listed, expected);
}

static void begins_another_pack_after_one_is_finished(void **state)
{
    struct pack_world *w = *state;
    struct al_oid first, second;
    uint64_t size;

    put_text(w, "first\n", &first);
    finish(w);
    assert_int_equal(count_files(w, "pack-", ".pack", &size), 1);
    assert_int_equal(al_pack_bytes(w->pack), size);
    put_text(w, "second\n", &second);
    finish(w);
    assert_int_equal(count_files(w, "pack-", ".pack", &size), 2);
    assert_int_equal(al_pack_bytes(w->pack), size);
    assert_sound(w, 2);
    assert_text(w, &first, "first\n");
    assert_text(w, &second, "second\n");
}

static void makes_files_nobody_writes_to(void **state)
{
    struct pack_world *w = *state;
    struct al_oid oid;
    DIR *dir;
    struct dirent *entry;
    size_t seen = 0;

    put_text(w, "content\n", &oid);
    finish(w);
    dir = opendir(w->packs->path);
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        struct stat st;

        if (entry->d_name[0] == '.')
            continue;
        assert_int_equal(fstatat(w->packs->fd, entry->d_name, &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, 0400);
        seen++;
    }
    closedir(dir);
    assert_int_equal(seen, 2);
}

static void says_when_it_cannot_write(void **state)
{
    struct pack_world *w = *state;
    struct al_pack *pack = al_pack_new(-1, false, true); /* no directory */
    struct al_oid oid;

    assert_int_equal(al_pack_begin(pack, AL_OBJECT_BLOB, 4, &w->err), 0);
    assert_int_equal(al_pack_add(pack, "text", 4, &w->err), 0);
    assert_int_equal(al_pack_end(pack, &oid, &w->err), 0);
    assert_int_equal(al_pack_finish(pack, &w->err), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "cannot write to the checkpoint store"));
    al_pack_free(pack);
}

static void writes_objects_of_every_size_with_sha256(void **state)
{
    writes_objects_of_every_size(state);
}

static void writes_trees_and_commits_with_sha256(void **state)
{
    writes_trees_and_commits(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        PACK_TEST(writes_objects_of_every_size),
        cmocka_unit_test_setup_teardown(writes_objects_of_every_size_with_sha256, setup_sha256,
                                        teardown),
        PACK_TEST(writes_objects_of_every_size_uncompressed),
        PACK_TEST(is_sound_whatever_number_was_expected),
        PACK_TEST(is_sound_when_less_came_than_was_expected),
        PACK_TEST(is_sound_when_a_thread_writes),
        PACK_TEST(is_given_up_while_a_thread_writes),
        PACK_TEST(says_when_a_thread_cannot_write),
        PACK_TEST(writes_trees_and_commits),
        cmocka_unit_test_setup_teardown(writes_trees_and_commits_with_sha256, setup_sha256,
                                        teardown),
        PACK_TEST(begins_another_pack_after_one_is_finished),
        PACK_TEST(makes_files_nobody_writes_to),
        PACK_TEST(says_when_it_cannot_write),
    };

    return cmocka_run_group_tests_name("odb/pack_write", tests, NULL, NULL);
}
