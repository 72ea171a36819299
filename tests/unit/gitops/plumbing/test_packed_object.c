// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/packed_object.h: packs and indexes in which something is wrong.  Each refusal
 * has the same files as they should be for its control. */
#include "gitops/plumbing/packed_object.h"

#include "tests/lib/assert.h"
#include "tests/lib/pack_file.h"
#include "util/mem.h"

/* "<text><letter>" of the text that is before it, as a delta of one byte for each number. */
static size_t make_delta(unsigned char *delta, size_t base_len, char letter)
{
    const unsigned char bytes[] = {
        (unsigned char)base_len, (unsigned char)(base_len + 1), 0x90, (unsigned char)base_len, 1,
        (unsigned char)letter
    };

    memcpy(delta, bytes, sizeof(bytes));
    return sizeof(bytes);
}

/* Add an object and as many deltas, each of the one before it. */
static char *add_chain(struct pack_file *file, unsigned type, size_t deltas)
{
    struct al_str text = AL_STR_INIT;
    uint64_t before = 12;

    al_str_adds(&text, PACK_TEXT);
    pack_blob(file, text.buf);
    for (size_t i = 0; i < deltas; i++) {
        const struct al_oid base = *pack_id_of(text.buf);
        unsigned char delta[8];
        const size_t len = make_delta(delta, text.len, (char)('a' + i % 26));
        const uint64_t at = file->pack.len;

        al_str_addc(&text, (char)('a' + i % 26));
        pack_begin(file, pack_id_of(text.buf), type, len);
        if (type == PACK_REF)
            al_str_add(&file->pack, (const char *)base.bytes, 20);
        else
            pack_back(file, (unsigned)(at - before));
        pack_data(file, delta, len);
        before = at;
    }
    pack_index(file);
    return al_str_detach(&text);
}

static void deltas_are_followed_to_a_limit(void **state)
{
    static const unsigned types[] = { PACK_OFS, PACK_REF };

    (void)state;
    for (size_t i = 0; i < COUNT(types); i++)
        for (size_t n = AL_DELTAS_MAX - 1; n <= AL_DELTAS_MAX + 1; n++) {
            al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;
            struct tmpdir *dir = tmpdir_new();
            al_auto(al_freep) char *text = NULL;

            text = add_chain(&file, types[i], n);
            pack_write(&file, dir);
            assert_int_equal(pack_reads(dir, text), n <= AL_DELTAS_MAX);
            tmpdir_free(dir);
        }
}

/* Deltas whose base is they themselves, or each other. */
static void a_cycle_ends(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;
    const struct al_oid a = *pack_id_of(PACK_TEXT "a"), b = *pack_id_of(PACK_TEXT "ab"),
                        c = *pack_id_of(PACK_TEXT "abc");
    const struct al_oid *const rows[][2] = { { &a, &b }, { &b, &a }, { &c, &c } };
    unsigned char delta[8];
    const size_t len = make_delta(delta, 10, 'a');

    (void)state;
    pack_blob(&file, PACK_TEXT);
    for (size_t i = 0; i < COUNT(rows); i++) {
        pack_begin(&file, rows[i][0], PACK_REF, len);
        al_str_add(&file.pack, (const char *)rows[i][1]->bytes, 20);
        pack_data(&file, delta, len);
    }
    pack_index(&file);
    pack_write(&file, dir);
    assert_true(pack_reads(dir, PACK_TEXT));
    assert_false(pack_reads(dir, PACK_TEXT "a"));
    assert_false(pack_reads(dir, PACK_TEXT "ab"));
    assert_false(pack_reads(dir, PACK_TEXT "abc"));
    tmpdir_free(dir);
}

/* A delta whose base is so many bytes before it. */
static bool reads_delta_back(unsigned distance)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;
    unsigned char delta[8];
    const size_t len = make_delta(delta, 10, 'a');
    bool got;

    pack_blob(&file, PACK_TEXT);
    pack_begin(&file, pack_id_of(PACK_TEXT "a"), PACK_OFS, len);
    pack_back(&file, distance);
    pack_data(&file, delta, len);
    pack_index(&file);
    pack_write(&file, dir);
    got = pack_reads(dir, PACK_TEXT "a");
    tmpdir_free(dir);
    return got;
}

static void a_base_is_an_object_before(void **state)
{
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;
    unsigned whole;

    (void)state;
    pack_blob(&file, PACK_TEXT);
    whole = (unsigned)file.pack.len - 12;
    for (unsigned distance = 0; distance < 0x80; distance++)
        assert_int_equal(reads_delta_back(distance), distance == whole);
}

/* Each row is a delta of PACK_TEXT that should make "0123456789a". */
static void a_delta_is_what_it_says(void **state)
{
    static const struct {
        const char *bytes;
        size_t len, declared;
        bool good;
    } rows[] = {
        { "\12\13\220\12\1a", 6, 6, true },
        { "\12\13\220\12\1a", 6, 5, false }, /* of the delta */
        { "\12\13\220\12\1a", 6, 7, false },
        { "\11\13\220\12\1a", 6, 6, false }, /* of the base */
        { "\12\12\220\12\1a", 6, 6, false }, /* of the result */
        { "\12\14\220\12\1a", 6, 6, false },
        { "\12\13\220\13", 4, 4, false },      /* more than the base has */
        { "\12\13\221\1\12\1a", 7, 7, false }, /* beyond its end */
        { "\12\13\200\1a", 5, 5, false },      /* 64 KiB of it */
        { "\12\13\220\12\0\1a", 7, 7, false }, /* what no delta has */
        { "\12\13\220\12\2a", 6, 6, false },   /* more than follows */
        { "\12\13\220", 3, 3, false },         /* a size is missing */
        { "\12\13\377\377\377\377\377\377\377", 9, 9, false },
        { "\212", 1, 1, false }, /* so is the result's */
        { "\212\200\200\200\200\200\200\200\200\200\200\0\13\220\12\1a", 16, 16, false },
        { "\12\377\377\377\377\177\220\12\1a", 10, 10, false }, /* of 32 GiB */
        { "", 0, 0, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tmpdir *dir = tmpdir_new();
        al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;

        pack_blob(&file, PACK_TEXT);
        pack_begin(&file, pack_id_of(PACK_TEXT "a"), PACK_REF, rows[i].declared);
        al_str_add(&file.pack, (const char *)pack_id_of(PACK_TEXT)->bytes, 20);
        pack_data(&file, rows[i].bytes, rows[i].len);
        pack_index(&file);
        pack_write(&file, dir);
        if (pack_reads(dir, PACK_TEXT "a") != rows[i].good)
            fail_msg("row %zu", i);
        tmpdir_free(dir);
    }
}

/* An object with a size, an id, a type that are not its own. */
static void an_object_is_what_it_says(void **state)
{
    static const struct {
        unsigned type;
        size_t size;
        const char *data;
        bool good;
    } rows[] = {
        { AL_OBJECT_BLOB, 10, PACK_TEXT, true },
        { AL_OBJECT_BLOB, 9, PACK_TEXT, false },
        { AL_OBJECT_BLOB, 11, PACK_TEXT, false },
        { AL_OBJECT_BLOB, 0, PACK_TEXT, false },
        { AL_OBJECT_BLOB, AL_LOOSE_MAX_BYTES, PACK_TEXT, false },
        { AL_OBJECT_BLOB, AL_LOOSE_MAX_BYTES + 1, PACK_TEXT, false },
        { AL_OBJECT_BLOB, (size_t)1 << 32, PACK_TEXT, false },
        { AL_OBJECT_BLOB, (size_t)1 << 62, PACK_TEXT, false },
        { AL_OBJECT_BLOB, 10, "012345678x", false },
        { AL_OBJECT_TREE, 10, PACK_TEXT, false },
        { AL_OBJECT_COMMIT, 10, PACK_TEXT, false },
        { 0, 10, PACK_TEXT, false },
        { 4, 10, PACK_TEXT, false }, /* a tag */
        { 5, 10, PACK_TEXT, false },
        { PACK_OFS, 10, PACK_TEXT, false },
        { PACK_REF, 10, PACK_TEXT, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tmpdir *dir = tmpdir_new();
        al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;

        pack_begin(&file, pack_id_of(PACK_TEXT), rows[i].type, rows[i].size);
        pack_data(&file, rows[i].data, strlen(rows[i].data));
        pack_index(&file);
        pack_write(&file, dir);
        if (pack_reads(dir, PACK_TEXT) != rows[i].good)
            fail_msg("row %zu", i);
        tmpdir_free(dir);
    }
}

static void an_object_has_a_limit(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;

    (void)state;
    pack_write_two(&file, dir);
    assert_false(pack_reads_up_to(dir, PACK_TEXT, 9));
    assert_true(pack_reads_up_to(dir, PACK_TEXT, 10));
    assert_true(pack_reads_up_to(dir, PACK_TEXT, 11));
    assert_false(pack_reads_up_to(dir, PACK_TEXT, 0));
    tmpdir_free(dir);
}

/* A stream of blocks without content has no end; so many of them are read, and no more. */
static void a_stream_is_not_endless(void **state)
{
    static const size_t blocks[] = { 0, 100, 1u << 20 };

    (void)state;
    for (size_t i = 0; i < COUNT(blocks); i++) {
        struct tmpdir *dir = tmpdir_new();
        al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;

        pack_begin(&file, pack_id_of(PACK_TEXT), AL_OBJECT_BLOB, 10);
        al_str_add(&file.pack, "\x78\x01", 2);
        for (size_t n = 0; n < blocks[i]; n++)
            al_str_add(&file.pack, "\0\0\0\377\377", 5);
        al_str_add(&file.pack, "\1\12\0\365\377" PACK_TEXT "\x0a\xff\x02\x0e", 19);
        pack_index(&file);
        pack_write(&file, dir);
        assert_int_equal(pack_reads(dir, PACK_TEXT), i < 2);
        tmpdir_free(dir);
    }
}

/* What fails counts as work too, and there is an end to it. */
static void failures_count(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(pack_file_clear) struct pack_file file = PACK_FILE_INIT;
    al_auto(al_packed_files_clear) struct al_packed_files files = { .items = NULL };
    struct al_loose_object object = { .data = NULL };
    size_t before = 0;

    (void)state;
    pack_begin(&file, pack_id_of("lies"), AL_OBJECT_BLOB, AL_LOOSE_MAX_BYTES);
    pack_data(&file, "lies", 4);
    pack_blob(&file, PACK_TEXT);
    pack_index(&file);
    pack_write(&file, dir);
    assert_true(pack_reads(dir, PACK_TEXT));
    for (int i = 0; i < 16; i++) {
        assert_false(al_packed_object_read(&files, dir->fd, pack_id_of("lies"), false,
                                           AL_LOOSE_MAX_BYTES, &object));
        assert_true(files.work > before);
        before = files.work;
    }
    assert_false(
        al_packed_object_read(&files, dir->fd, pack_id_of(PACK_TEXT), false, 100, &object));
    tmpdir_free(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(deltas_are_followed_to_a_limit), cmocka_unit_test(a_cycle_ends),
        cmocka_unit_test(a_base_is_an_object_before),     cmocka_unit_test(a_delta_is_what_it_says),
        cmocka_unit_test(an_object_is_what_it_says),      cmocka_unit_test(an_object_has_a_limit),
        cmocka_unit_test(a_stream_is_not_endless),        cmocka_unit_test(failures_count),
    };

    return cmocka_run_group_tests_name("gitops/plumbing/packed_object", tests, NULL, NULL);
}
