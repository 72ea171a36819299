// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/pack_file.h"

#include <endian.h>
#include <stdlib.h>
#include <zlib.h>

#include "gitops/plumbing/packed_object.h"
#include "tests/lib/assert.h"
#include "util/mem.h"

#define OID_BYTES 20u

void pack_file_clear(struct pack_file *file)
{
    al_str_clear(&file->pack);
    al_str_clear(&file->idx);
    *file = PACK_FILE_INIT;
}

static void add_number(struct al_str *bytes, uint32_t value)
{
    const uint32_t big = htobe32(value);

    al_str_add(bytes, (const char *)&big, sizeof(big));
}

void pack_put(struct al_str *bytes, size_t at, uint32_t value)
{
    const uint32_t big = htobe32(value);

    assert_true(at + sizeof(big) <= bytes->len);
    memcpy(bytes->buf + at, &big, sizeof(big));
}

void pack_begin(struct pack_file *file, const struct al_oid *oid, unsigned type, size_t size)
{
    unsigned char byte = (unsigned char)(type << 4 | (size & 15));

    if (!file->pack.len)
        al_str_add(&file->pack, "PACK\0\0\0\2\0\0\0\1", 12);
    if (oid) {
        assert_true(file->count < PACK_ENTRIES);
        file->entries[file->count++] = (struct pack_entry){ *oid, file->pack.len };
    }
    for (size >>= 4; size; size >>= 7) {
        al_str_addc(&file->pack, (char)(byte | 0x80));
        byte = size & 0x7f;
    }
    al_str_addc(&file->pack, (char)byte);
}

void pack_back(struct pack_file *file, unsigned distance)
{
    assert_true(distance < 0x80);
    al_str_addc(&file->pack, (char)distance);
}

void pack_data(struct pack_file *file, const void *data, size_t len)
{
    uLongf room = compressBound((uLong)len);
    al_auto(al_freep) unsigned char *bytes = al_malloc(room);

    assert_int_equal(compress(bytes, &room, data, (uLong)len), Z_OK);
    al_str_add(&file->pack, (const char *)bytes, room);
}

void pack_blob(struct pack_file *file, const char *text)
{
    struct al_oid oid;

    al_oid_of(false, AL_OBJECT_BLOB, text, strlen(text), &oid);
    pack_begin(file, &oid, AL_OBJECT_BLOB, strlen(text));
    pack_data(file, text, strlen(text));
}

static int by_id(const void *a, const void *b)
{
    return memcmp(((const struct pack_entry *)a)->oid.bytes,
                  ((const struct pack_entry *)b)->oid.bytes, OID_BYTES);
}

void pack_index(struct pack_file *file)
{
    struct pack_entry *entries = file->entries;

    qsort(entries, file->count, sizeof(*entries), by_id);
    al_str_reset(&file->idx);
    al_str_add(&file->idx, "\377tOc\0\0\0\2", 8);
    for (unsigned first = 0; first < 256; first++) {
        uint32_t n = 0;

        while (n < file->count && entries[n].oid.bytes[0] <= first)
            n++;
        add_number(&file->idx, n);
    }
    for (size_t i = 0; i < file->count; i++)
        al_str_add(&file->idx, (const char *)entries[i].oid.bytes, OID_BYTES);
    for (size_t i = 0; i < file->count; i++)
        add_number(&file->idx, 0); /* the checksum, which is not read */
    for (size_t i = 0; i < file->count; i++)
        add_number(&file->idx, (uint32_t)entries[i].offset);
}

void pack_write(const struct pack_file *file, struct tmpdir *dir)
{
    tmpdir_write_bytes(dir, "objects/pack/pack-1.pack", file->pack.buf, file->pack.len);
    tmpdir_write_bytes(dir, "objects/pack/pack-1.idx", file->idx.buf, file->idx.len);
}

const struct al_oid *pack_id_of(const char *text)
{
    static struct al_oid oid;

    al_oid_of(false, AL_OBJECT_BLOB, text, strlen(text), &oid);
    return &oid;
}

bool pack_reads_up_to(struct tmpdir *dir, const char *text, size_t max_bytes)
{
    al_auto(al_packed_files_clear) struct al_packed_files files = { .items = NULL };
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };

    if (!al_packed_object_read(&files, dir->fd, pack_id_of(text), false, max_bytes, &object))
        return false;
    assert_int_equal(object.type, AL_OBJECT_BLOB);
    assert_int_equal(object.len, strlen(text));
    assert_string_equal(object.data, text);
    return true;
}

bool pack_reads(struct tmpdir *dir, const char *text)
{
    return pack_reads_up_to(dir, text, AL_LOOSE_MAX_BYTES);
}

void pack_write_two(struct pack_file *file, struct tmpdir *dir)
{
    pack_file_clear(file);
    pack_blob(file, PACK_TEXT);
    pack_blob(file, "other");
    pack_index(file);
    pack_write(file, dir);
}
