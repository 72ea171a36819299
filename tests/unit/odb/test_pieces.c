// SPDX-License-Identifier: Apache-2.0
/* odb/pieces.h: a file that is cut while it is read has the pieces of its bytes. */
#include "odb/pieces.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

#define MOST 1000003u

/* Bytes that are cut in many places, or in none. */
static void fill(uint8_t *bytes, size_t len, bool random)
{
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < len; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes[i] = random ? (uint8_t)x : 0;
    }
}

static void cuts_a_file_as_its_bytes(void **state)
{
    static const size_t sizes[] = { 0,     1,      2047,   2048,   2049,   65535,  65536,
                                    65537, 262143, 262144, 262145, 327681, 524288, MOST };
    struct tmpdir *dir = tmpdir_new();
    al_auto(al_freep) uint8_t *bytes = al_malloc(MOST);

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
        size_t len = sizes[i / 2];
        al_auto(al_closep) int fd = -1;
        struct al_objects objects;
        struct al_oid from_bytes, from_file;
        struct al_pieces pieces;
        uint64_t read_bytes;
        int r;

        fill(bytes, len, i % 2 == 0);
        tmpdir_write_bytes(dir, "file", bytes, len);
        fd = openat(dir->fd, "file", O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        al_objects_init(&objects, dir->fd, -1, false);
        assert_int_equal(al_objects_put_pieces(&objects, bytes, len, &from_bytes, NULL), 0);
        pieces = al_pieces_begin(&objects);
        r = al_pieces_put_rest(&pieces, fd, 0, &read_bytes, NULL);
        assert_int_equal(al_pieces_end(&pieces, r, &from_file, NULL), 0);
        assert_int_equal(read_bytes, len);
        assert_true(al_oid_equal(&from_bytes, &from_file));
        al_objects_clear(&objects);
    }
    tmpdir_free(dir);
}

static void tells_of_a_file_that_cannot_be_read(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct al_objects objects;
    struct al_pieces pieces;
    struct al_oid tree;
    uint64_t bytes;

    (void)state;
    al_objects_init(&objects, dir->fd, -1, false);
    pieces = al_pieces_begin(&objects);
    assert_int_equal(al_pieces_put_rest(&pieces, dir->fd, 0, &bytes, NULL), AL_ERR_EXECUTION);
    assert_int_equal(al_pieces_end(&pieces, AL_ERR_EXECUTION, &tree, NULL), AL_ERR_EXECUTION);
    al_objects_clear(&objects);
    tmpdir_free(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_a_file_as_its_bytes),
        cmocka_unit_test(tells_of_a_file_that_cannot_be_read),
    };

    return cmocka_run_group_tests_name("odb/pieces", tests, NULL, NULL);
}
