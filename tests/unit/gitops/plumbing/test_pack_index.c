// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/packed_object.h: indexes in which a number is wrong, and files that end too soon.
 */
#include <fcntl.h>
#include <unistd.h>

#include "gitops/plumbing/packed_object.h"
#include "tests/lib/assert.h"
#include "tests/lib/pack_file.h"

/* Numbers of the index that are wrong. */
static void an_index_is_checked(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;
    const unsigned first = pack_id_of(PACK_TEXT)->bytes[0];
    const size_t offsets = IDX_IDS + 2 * 24;
    size_t mine;

    (void)state;
    pack_write_two(&file, dir);
    mine = al_oid_equal(&file.entries[0].oid, pack_id_of(PACK_TEXT)) ? 0 : 1;
    const struct {
        size_t at;
        uint32_t value;
        bool good;
    } rows[] = {
        { 0, 0xff744f63, true },
        { 0, 0xff744f64, false },
        { 4, 1, false },
        { 4, 3, false },
        { IDX_FANOUT + (first - 1) * 4, 3, false }, /* it decreases */
        { IDX_FANOUT + (first - 1) * 4, UINT32_MAX, false },
        { IDX_FANOUT + first * 4, 0, false },
        { IDX_FANOUT + first * 4, 3, false }, /* more than there are */
        { IDX_FANOUT + first * 4, UINT32_MAX, false },
        { IDX_FANOUT + 255 * 4, 0, false },
        { IDX_FANOUT + 255 * 4, UINT32_MAX, false },
        { offsets + mine * 4, 0, false },
        { offsets + mine * 4, 13, false },
        { offsets + mine * 4, 0x7fffffff, false },
        { offsets + mine * 4, 0x80000000, false }, /* there are no large ones */
        { offsets + mine * 4, UINT32_MAX, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pack_index(&file);
        pack_put(&file.idx, rows[i].at, rows[i].value);
        pack_write(&file, dir);
        if (pack_reads(dir, PACK_TEXT) != rows[i].good)
            fail_msg("row %zu", i);
    }
    tmpdir_free(dir);
}

static void a_large_offset_is_in_the_pack(void **state)
{
    static const uint64_t wrong[] = { 0,
                                      11,
                                      13,
                                      1u << 20,
                                      (uint64_t)1 << 62,
                                      INT64_MAX,
                                      (uint64_t)INT64_MAX + 1,
                                      UINT64_MAX - 8,
                                      UINT64_MAX };
    struct tmpdir *dir = tmpdir_new();
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;

    (void)state;
    pack_blob(&file, PACK_TEXT);
    pack_index(&file);
    pack_put(&file.idx, IDX_IDS + 24, 0x80000000);
    al_str_add(&file.idx, "\0\0\0\0\0\0\0\14", 8);
    pack_write(&file, dir);
    assert_true(pack_reads(dir, PACK_TEXT));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        pack_put(&file.idx, IDX_IDS + 28, (uint32_t)(wrong[i] >> 32));
        pack_put(&file.idx, IDX_IDS + 32, (uint32_t)wrong[i]);
        pack_write(&file, dir);
        assert_false(pack_reads(dir, PACK_TEXT));
    }
    pack_put(&file.idx, IDX_IDS + 24, 0x80000001); /* the one after the last */
    pack_write(&file, dir);
    assert_false(pack_reads(dir, PACK_TEXT));
    tmpdir_free(dir);
}

/* A file ends where it should not: nothing wrong is told, and nothing is left to read. */
static void a_short_file_has_less(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;
    size_t found = 0;

    (void)state;
    pack_write_two(&file, dir);
    for (size_t len = 0; len < file.pack.len; len++) {
        tmpdir_write_bytes(dir, "objects/pack/pack-1.pack", file.pack.buf, len);
        found += pack_reads(dir, PACK_TEXT);
        assert_false(pack_reads(dir, "other"));
    }
    assert_true(found > 0); /* the first object was whole for some of them */
    pack_write(&file, dir);
    for (size_t len = 0; len < file.idx.len; len++) {
        tmpdir_write_bytes(dir, "objects/pack/pack-1.idx", file.idx.buf, len);
        assert_false(pack_reads(dir, PACK_TEXT) && pack_reads(dir, "other"));
    }
    tmpdir_free(dir);
}

/* The files are open already, and get shorter. */
static void a_file_may_shrink(void **state)
{
    static const char *const names[] = { "objects/pack/pack-1.pack", "objects/pack/pack-1.idx" };
    struct tmpdir *dir = tmpdir_new();
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_packed_files_clear) struct al_packed_files files = { .items = NULL };
        al_auto(al_loose_object_clear) struct al_loose_object one = { .data = NULL };
        struct al_loose_object two = { .data = NULL };
        int fd;

        pack_write_two(&file, dir);
        assert_true(
            al_packed_object_read(&files, dir->fd, pack_id_of(PACK_TEXT), false, 100, &one));
        fd = openat(dir->fd, names[i], O_WRONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(ftruncate(fd, 14), 0);
        (void)close(fd);
        assert_false(
            al_packed_object_read(&files, dir->fd, pack_id_of(PACK_TEXT), false, 100, &two));
        assert_false(al_packed_object_read(&files, dir->fd, pack_id_of("other"), false, 100, &two));
        assert_string_equal(one.data, PACK_TEXT);
    }
    tmpdir_free(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_checked),
        cmocka_unit_test(a_large_offset_is_in_the_pack),
        cmocka_unit_test(a_short_file_has_less),
        cmocka_unit_test(a_file_may_shrink),
    };

    return cmocka_run_group_tests_name("gitops/plumbing/pack_index", tests, NULL, NULL);
}
