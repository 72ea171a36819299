// SPDX-License-Identifier: Apache-2.0
#include "odb/pack_image.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/fs.h"

#define HEAD_BYTES 12u
#define NAMES_AT   (8u + 256u * 4u)
/* Of the types of packed objects; gitformat-pack(5). */
#define FIRST_DELTA 6

void al_pack_image_clear(struct al_pack_image *image)
{
    al_str_clear(&image->pack);
    al_str_clear(&image->index);
}

static int by_oid(const void *a, const void *b)
{
    return memcmp(((const struct al_pack_entry *)a)->oid.bytes,
                  ((const struct al_pack_entry *)b)->oid.bytes, AL_OID_MAX_BYTES);
}

static int by_offset(const void *a, const void *b)
{
    const struct al_pack_entry *one = a, *two = b;

    return (one->offset > two->offset) - (one->offset < two->offset);
}

static void add_be32(struct al_str *out, uint32_t value)
{
    uint32_t big = htobe32(value);

    al_str_add(out, &big, sizeof(big));
}

static uint32_t be32_at(const char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return be32toh(value);
}

static void add_fanout(const struct al_pack_entry *entries, size_t count, struct al_str *out)
{
    size_t n = 0;

    for (unsigned first = 0; first < 256; first++) {
        while (n < count && entries[n].oid.bytes[0] == first)
            n++;
        add_be32(out, (uint32_t)n);
    }
}

static void add_sum(struct al_str *out, bool sha256)
{
    struct al_hash hash;
    struct al_oid sum;

    al_hash_init(&hash, sha256);
    al_hash_add(&hash, out->buf, out->len);
    al_hash_end(&hash, &sum);
    al_str_add(out, sum.bytes, al_oid_bytes(sha256));
}

void al_pack_image_add_index(struct al_pack_entry *entries, size_t count,
                             const struct al_oid *pack_sum, bool sha256, struct al_str *out)
{
    size_t oid_bytes = al_oid_bytes(sha256);

    qsort(entries, count, sizeof(*entries), by_oid);
    al_str_reserve(out, NAMES_AT + count * (oid_bytes + 8) + 2 * oid_bytes);
    add_be32(out, 0xff744f63);
    add_be32(out, 2);
    add_fanout(entries, count, out);
    for (size_t i = 0; i < count; i++)
        al_str_add(out, entries[i].oid.bytes, oid_bytes);
    for (size_t i = 0; i < count; i++)
        add_be32(out, entries[i].crc);
    for (size_t i = 0; i < count; i++)
        add_be32(out, entries[i].offset);
    al_str_add(out, pack_sum->bytes, oid_bytes);
    add_sum(out, sha256);
}

void al_pack_image_name(const struct al_pack_image *image, bool sha256,
                        char ret_name[AL_OID_TEXT + 8])
{
    struct al_oid sum = { .bytes = { 0 } };
    size_t oid_bytes = al_oid_bytes(sha256);
    char text[AL_OID_TEXT];

    if (image->pack.len >= oid_bytes)
        memcpy(sum.bytes, image->pack.buf + image->pack.len - oid_bytes, oid_bytes);
    al_oid_text(&sum, sha256, text);
    (void)snprintf(ret_name, AL_OID_TEXT + 8, "pack-%s", text);
}

/* Whether bytes end with their own checksum. */
static bool ends_with_sum(const struct al_str *bytes, bool sha256)
{
    size_t oid_bytes = al_oid_bytes(sha256);
    struct al_hash hash;
    struct al_oid sum;

    if (bytes->len < oid_bytes)
        return false;
    al_hash_init(&hash, sha256);
    al_hash_add(&hash, bytes->buf, bytes->len - oid_bytes);
    al_hash_end(&hash, &sum);
    return !memcmp(sum.bytes, bytes->buf + bytes->len - oid_bytes, oid_bytes);
}

/* The number of objects in an index; SIZE_MAX: it has another form. */
static size_t count_in(const struct al_str *index, bool sha256)
{
    size_t oid_bytes = al_oid_bytes(sha256), count;

    if (index->len < NAMES_AT + 2 * oid_bytes || be32_at(index->buf) != 0xff744f63 ||
        be32_at(index->buf + 4) != 2)
        return SIZE_MAX;
    count = be32_at(index->buf + NAMES_AT - 4);
    return index->len == NAMES_AT + count * (oid_bytes + 8) + 2 * oid_bytes ? count : SIZE_MAX;
}

static size_t count_of(const struct al_pack_image *image, bool sha256)
{
    return count_in(&image->index, sha256);
}

bool al_pack_image_has_all(const struct al_pack_image *image, const struct al_str *index,
                           bool sha256)
{
    size_t oid_bytes = al_oid_bytes(sha256), all = count_of(image, sha256);
    size_t count = count_in(index, sha256), at = 0;

    if (all == SIZE_MAX || count == SIZE_MAX)
        return false;
    /* Both are sorted. */
    for (size_t i = 0; i < count; i++, at++) {
        const char *oid = index->buf + NAMES_AT + i * oid_bytes;

        while (at < all && memcmp(image->index.buf + NAMES_AT + at * oid_bytes, oid, oid_bytes) < 0)
            at++;
        if (at == all || memcmp(image->index.buf + NAMES_AT + at * oid_bytes, oid, oid_bytes) != 0)
            return false;
    }
    return true;
}

bool al_pack_image_is_whole(const struct al_pack_image *image, bool sha256)
{
    size_t oid_bytes = al_oid_bytes(sha256);

    return ends_with_sum(&image->pack, sha256) && ends_with_sum(&image->index, sha256) &&
           image->pack.len >= HEAD_BYTES + oid_bytes && count_of(image, sha256) != SIZE_MAX &&
           !memcmp(image->index.buf + image->index.len - 2 * oid_bytes,
                   image->pack.buf + image->pack.len - oid_bytes, oid_bytes);
}

static int write_file(const struct al_str *bytes, int dir_fd, const char *stem, const char *suffix,
                      bool durable, struct al_error *err)
{
    char name[AL_OID_TEXT + 16];
    int r;

    (void)snprintf(name, sizeof(name), "%s%s", stem, suffix);
    r = durable ? al_fs_write_durable(dir_fd, name, bytes->buf, bytes->len, 0400)
                : al_fs_write_atomic(dir_fd, name, bytes->buf, bytes->len, 0400, true);
    return r < 0 ? al_error_errno(err, -r, "cannot write to the checkpoint store") : 0;
}

/* git looks for a pack when it finds an index. */
int al_pack_image_write(const struct al_pack_image *image, int dir_fd, bool sha256, bool durable,
                        struct al_error *err)
{
    char stem[AL_OID_TEXT + 8];
    int r;

    if (!image->pack.len)
        return 0;
    al_pack_image_name(image, sha256, stem);
    r = write_file(&image->pack, dir_fd, stem, ".pack", durable, err);
    return r < 0 ? r : write_file(&image->index, dir_fd, stem, ".idx", durable, err);
}

/* Read the entries of an index. */
static struct al_pack_entry *read_entries(const struct al_pack_image *image, bool sha256,
                                          size_t count)
{
    struct al_pack_entry *entries = al_calloc(count + 1, sizeof(*entries));
    size_t oid_bytes = al_oid_bytes(sha256);
    const char *oids = image->index.buf + NAMES_AT, *crcs = oids + count * oid_bytes;

    for (size_t i = 0; i < count; i++) {
        memcpy(entries[i].oid.bytes, oids + i * oid_bytes, oid_bytes);
        entries[i].crc = be32_at(crcs + 4 * i);
        entries[i].offset = be32_at(crcs + 4 * (count + i));
    }
    qsort(entries, count, sizeof(*entries), by_offset);
    return entries;
}

bool al_pack_image_has_deltas(const struct al_pack_image *image, bool sha256)
{
    size_t count = count_of(image, sha256);
    const char *offsets = image->index.buf + NAMES_AT + count * (al_oid_bytes(sha256) + 4);

    if (count == SIZE_MAX)
        return true;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = be32_at(offsets + 4 * i);

        if (at >= image->pack.len || ((uint8_t)image->pack.buf[at] >> 4 & 7) >= FIRST_DELTA)
            return true;
    }
    return false;
}

/** Packs that are being joined. */
struct join {
    bool sha256;
    struct al_str bytes; /* of the objects */
    struct al_pack_entry *entries;
    size_t count;
    struct al_oid_set seen;
};

static void add_image(struct join *join, const struct al_pack_image *image)
{
    size_t count = image->pack.len ? count_of(image, join->sha256) : 0;
    uint32_t end = (uint32_t)(image->pack.len - al_oid_bytes(join->sha256));
    al_auto(al_freep) void *freed = NULL;
    const struct al_pack_entry *entries;

    if (!count || count == SIZE_MAX)
        return;
    freed = read_entries(image, join->sha256, count);
    entries = freed;
    join->entries = al_reallocarray(join->entries, join->count + count, sizeof(*join->entries));
    for (size_t i = 0; i < count; i++) {
        uint32_t next = i + 1 < count ? entries[i + 1].offset : end;

        if (next > end || next < entries[i].offset || !al_oid_set_add(&join->seen, &entries[i].oid))
            continue;
        join->entries[join->count] = entries[i];
        join->entries[join->count++].offset = (uint32_t)(HEAD_BYTES + join->bytes.len);
        al_str_add(&join->bytes, image->pack.buf + entries[i].offset, next - entries[i].offset);
    }
}

void al_pack_image_join(const struct al_pack_image *images, size_t count, bool sha256,
                        struct al_pack_image *ret_image)
{
    struct join join = { .sha256 = sha256, .bytes = AL_STR_INIT };
    struct al_pack_image image = AL_PACK_IMAGE_INIT;
    struct al_oid sum = { .bytes = { 0 } };
    size_t oid_bytes = al_oid_bytes(sha256);

    for (size_t i = 0; i < count; i++)
        add_image(&join, &images[i]);
    if (join.count) {
        add_be32(&image.pack, 0x5041434b);
        add_be32(&image.pack, 2);
        add_be32(&image.pack, (uint32_t)join.count);
        al_str_add(&image.pack, join.bytes.buf, join.bytes.len);
        add_sum(&image.pack, sha256);
        memcpy(sum.bytes, image.pack.buf + image.pack.len - oid_bytes, oid_bytes);
        al_pack_image_add_index(join.entries, join.count, &sum, sha256, &image.index);
    }
    al_str_clear(&join.bytes);
    al_oid_set_clear(&join.seen);
    free(join.entries);
    *ret_image = image;
}
