// SPDX-License-Identifier: Apache-2.0
/* odb/pack_write.h: git reads what is written, and sees nothing of what is not finished.
 * test_caps.c has the largest object. */
#include "odb/pack_write.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"
#include "tests/unit/gitops/lib.h"

struct pack_world {
    struct tmpdir *home, *repo, *packs;
    struct al_pack *pack;
    bool sha256;
    struct al_error err;
};

static int setup_format(void **state, bool sha256)
{
    struct pack_world *w = al_calloc(1, sizeof(*w));

    w->home = tmpdir_new();
    w->repo = tmpdir_new();
    w->sha256 = sha256;
    git_fixture_environment(w->home);
    git_ok(w->repo, "init", "-q", "--bare", sha256 ? "--object-format=sha256" : NULL, NULL);
    w->packs = subdir_open(w->repo, "objects/pack");
    w->pack = al_pack_new(w->packs->fd, sha256, true);
    *state = w;
    return 0;
}

static int setup(void **state)
{
    return setup_format(state, false);
}

static int setup_sha256(void **state)
{
    return setup_format(state, true);
}

static int teardown(void **state)
{
    struct pack_world *w = *state;

    al_pack_free(w->pack);
    al_error_clear(&w->err);
    subdir_close(w->packs);
    tmpdir_free(w->repo);
    tmpdir_free(w->home);
    free(w);
    return 0;
}

#define PACK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Bytes that do not compress, the same ones for the same seed.  Caller frees. */
static char *noise(size_t len, uint32_t seed)
{
    char *bytes = al_malloc(len + 1);

    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (char)(seed >> 24);
    }
    bytes[len] = '\0';
    return bytes;
}

/* A blob in pieces of at most 100000 bytes. */
static void put(struct pack_world *w, const char *bytes, size_t len, struct al_oid *ret_oid)
{
    assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_BLOB, len, &w->err), 0);
    for (size_t at = 0, piece; at < len; at += piece) {
        piece = len - at < 100000 ? len - at : 100000;
        assert_int_equal(al_pack_add(w->pack, bytes + at, piece, &w->err), 0);
    }
    assert_int_equal(al_pack_end(w->pack, ret_oid, &w->err), 0);
}

static void put_text(struct pack_world *w, const char *text, struct al_oid *ret_oid)
{
    put(w, text, strlen(text), ret_oid);
}

static bool git_has(const struct pack_world *w, const struct al_oid *oid)
{
    char id[AL_OID_TEXT];

    al_oid_text(oid, w->sha256, id);
    return git_status_of(w->repo, "cat-file", "-e", id, NULL) == 0;
}

static void assert_text(const struct pack_world *w, const struct al_oid *oid, const char *expected)
{
    al_auto(al_freep) char *text = NULL;
    char id[AL_OID_TEXT];

    al_oid_text(oid, w->sha256, id);
    text = git_output(w->repo, "cat-file", "blob", id, NULL);
    assert_string_equal(text, expected);
}

/* How many files the directory of packs has, whose names begin with `prefix`, and their bytes. */
static size_t count_files(const struct pack_world *w, const char *prefix, const char *suffix,
                          uint64_t *ret_bytes)
{
    DIR *dir = opendir(w->packs->path);
    struct dirent *entry;
    size_t count = 0;
    struct stat st;

    assert_non_null(dir);
    *ret_bytes = 0;
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || !al_starts_with(entry->d_name, prefix) ||
            !al_ends_with(entry->d_name, suffix))
            continue;
        assert_int_equal(fstatat(w->packs->fd, entry->d_name, &st, 0), 0);
        *ret_bytes += (uint64_t)st.st_size;
        count++;
    }
    closedir(dir);
    return count;
}

static void assert_sound(const struct pack_world *w, size_t packs)
{
    al_auto(al_freep) char *said =
        git_output(w->repo, "fsck", "--full", "--strict", "--no-dangling", "--no-progress", NULL);
    uint64_t bytes;

    assert_string_equal(said, "");
    assert_int_equal(count_files(w, "pack-", ".pack", &bytes), packs);
    assert_int_equal(count_files(w, "pack-", ".idx", &bytes), packs);
    assert_int_equal(count_files(w, "tmp_", "", &bytes), 0);
}

static void finish(struct pack_world *w)
{
    assert_int_equal(al_pack_finish(w->pack, &w->err), 0);
}

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

static void shows_nothing_before_it_is_finished(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(300000, 7);
    struct al_oid oid;
    uint64_t size;

    put(w, bytes, 300000, &oid); /* more than the buffer, so there is a file */
    assert_int_equal(count_files(w, "tmp_", "", &size), 1);
    assert_int_equal(count_files(w, "pack-", "", &size), 0);
    assert_false(git_has(w, &oid));
    finish(w);
    assert_true(git_has(w, &oid));
    assert_sound(w, 1);
}

static void leaves_nothing_when_it_is_given_up(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(300000, 7);
    struct al_oid oid;
    uint64_t size;

    put(w, bytes, 300000, &oid);
    al_pack_free(w->pack);
    w->pack = NULL;
    assert_int_equal(count_files(w, "", "", &size), 0);
    assert_false(git_has(w, &oid));
}

static void writes_no_pack_without_an_object(void **state)
{
    struct pack_world *w = *state;
    uint64_t size;

    finish(w);
    assert_int_equal(al_pack_bytes(w->pack), 0);
    assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_BLOB, 3, &w->err), 0);
    assert_int_equal(al_pack_undo(w->pack, &w->err), 0);
    finish(w);
    assert_int_equal(count_files(w, "", "", &size), 0);
}

static void takes_back_an_object_that_was_begun_or_ended(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(300000, 9);
    struct al_oid first, begun, ended, last;
    uint64_t before;

    put_text(w, "first\n", &first);
    before = al_pack_bytes(w->pack);
    put_text(w, "ended\n", &ended);
    assert_int_equal(al_pack_undo(w->pack, &w->err), 0);
    assert_int_equal(al_pack_bytes(w->pack), before);
    for (size_t len = 10; len <= 300000; len += 299990) { /* in the buffer, and beyond it */
        assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_BLOB, 300000, &w->err), 0);
        assert_int_equal(al_pack_add(w->pack, bytes, len, &w->err), 0);
        assert_int_equal(al_pack_undo(w->pack, &w->err), 0);
        assert_int_equal(al_pack_bytes(w->pack), before);
    }
    put_text(w, "last\n", &last);
    finish(w);
    assert_sound(w, 1);
    al_oid_of(false, AL_OBJECT_BLOB, bytes, 300000, &begun);
    assert_text(w, &first, "first\n");
    assert_text(w, &last, "last\n");
    assert_false(git_has(w, &begun));
    assert_false(git_has(w, &ended));
}

static void leaves_out_an_object_that_was_not_ended(void **state)
{
    struct pack_world *w = *state;
    struct al_oid first, open;

    put_text(w, "first\n", &first);
    assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_BLOB, 5, &w->err), 0);
    assert_int_equal(al_pack_add(w->pack, "open\n", 5, &w->err), 0);
    finish(w);
    assert_sound(w, 1);
    al_oid_of(false, AL_OBJECT_BLOB, "open\n", 5, &open);
    assert_true(git_has(w, &first));
    assert_false(git_has(w, &open));
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
        PACK_TEST(shows_nothing_before_it_is_finished),
        PACK_TEST(leaves_nothing_when_it_is_given_up),
        PACK_TEST(writes_no_pack_without_an_object),
        PACK_TEST(takes_back_an_object_that_was_begun_or_ended),
        PACK_TEST(leaves_out_an_object_that_was_not_ended),
        PACK_TEST(begins_another_pack_after_one_is_finished),
        PACK_TEST(makes_files_nobody_writes_to),
        PACK_TEST(says_when_it_cannot_write),
    };

    return cmocka_run_group_tests_name("checkpoint/pack", tests, NULL, NULL);
}
