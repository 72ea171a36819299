// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/packed_object.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "gitops/plumbing/delta.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define FANOUT_AT    8u /* after the signature and the version */
#define IDS_AT       (FANOUT_AT + 256u * 4u)
#define BUCKET_BYTES (64u << 10) /* of the ids with one first byte */
#define CHUNK_BYTES  (16u << 10)
#define HEAD_BYTES   (16u + AL_OID_MAX_BYTES) /* of an object in a pack */
/* Deltas can make much of little: so many bytes are made for all objects together. */
#define WORK_MAX_BYTES (64u << 20)
#define SEARCH_BYTES   4096u /* that a search of a base counts for */
/* A stream may hold blocks of nothing: one with more than this for its content is left to git. */
#define STREAM_MAX_BYTES(size) (2 * (uint64_t)(size) + 4 * (uint64_t)CHUNK_BYTES)
#define LARGE_OFFSET           0x80000000u
#define OFS_DELTA              6u
#define REF_DELTA              7u

/** What is needed to find objects. */
struct source {
    struct al_packed_files *files;
    int dir_fd;
    bool sha256;
};

/** An object as it is in a pack. */
struct packed {
    unsigned type;      /* al_object_type, or a delta */
    size_t size;        /* of its content, or of the delta */
    uint64_t data_at;   /* the compressed bytes */
    uint64_t base_at;   /* of OFS_DELTA */
    struct al_oid base; /* of REF_DELTA */
};

void al_packed_files_clear(struct al_packed_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        al_close(files->items[i].index_fd);
        al_close(files->items[i].pack_fd);
        free(files->items[i].name);
    }
    free(files->items);
    *files = (struct al_packed_files){ .items = NULL };
}

static bool read_at(int fd, void *into, size_t len, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, into, len, (off_t)offset) == (ssize_t)len;
}

static bool read_be32(int fd, uint64_t offset, uint32_t *ret_value)
{
    uint32_t big;

    if (!read_at(fd, &big, sizeof(big), offset))
        return false;
    *ret_value = be32toh(big);
    return true;
}

static int open_file(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        al_close(fd);
        return -1;
    }
    return fd;
}

/* An index of the second version, which every git writes by itself. */
static void add_file(struct al_packed_files *files, int dir_fd, const char *name)
{
    int fd = open_file(dir_fd, name);
    uint32_t signature, version, count;

    if (!read_be32(fd, 0, &signature) || !read_be32(fd, 4, &version) || signature != 0xff744f63u ||
        version != 2 || !read_be32(fd, FANOUT_AT + 255u * 4u, &count)) {
        al_close(fd);
        return;
    }
    files->items = al_reallocarray(files->items, files->count + 1, sizeof(*files->items));
    files->items[files->count++] = (struct al_packed_file){
        .index_fd = fd, .pack_fd = -1, .name = al_strdup(name), .count = count
    };
}

static void open_files(struct al_packed_files *files, int dir_fd)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    struct dirent *entry;

    files->opened = true;
    while (dir && files->count < AL_PACKS_MAX && (entry = readdir(dir)))
        if (al_starts_with(entry->d_name, "pack-") && al_ends_with(entry->d_name, ".idx"))
            add_file(files, dir_fd, entry->d_name);
}

/* Find the id among those with its first byte; false when it is not there. */
static bool find_position(const struct al_packed_file *file, const struct al_oid *oid,
                          size_t oid_bytes, uint32_t *ret_position)
{
    al_auto(al_freep) unsigned char *ids = NULL;
    unsigned first = oid->bytes[0];
    uint32_t from = 0, to;
    size_t len;

    if ((first && !read_be32(file->index_fd, FANOUT_AT + (first - 1) * 4u, &from)) ||
        !read_be32(file->index_fd, FANOUT_AT + first * 4u, &to) || from > to || to > file->count)
        return false;
    /* A large bucket is halved until what is left is read at once. */
    while ((uint64_t)(to - from) * oid_bytes > BUCKET_BYTES) {
        uint32_t middle = from + (to - from) / 2;
        unsigned char id[AL_OID_MAX_BYTES];

        if (!read_at(file->index_fd, id, oid_bytes, IDS_AT + (uint64_t)middle * oid_bytes))
            return false;
        if (memcmp(id, oid->bytes, oid_bytes) <= 0)
            from = middle;
        else
            to = middle;
    }
    len = (size_t)(to - from) * oid_bytes;
    ids = al_malloc(len + 1);
    if (!read_at(file->index_fd, ids, len, IDS_AT + (uint64_t)from * oid_bytes))
        return false;
    for (size_t at = 0; at < len; at += oid_bytes)
        if (!memcmp(ids + at, oid->bytes, oid_bytes)) {
            *ret_position = from + (uint32_t)(at / oid_bytes);
            return true;
        }
    return false;
}

static bool find_offset(const struct al_packed_file *file, const struct al_oid *oid,
                        size_t oid_bytes, uint64_t *ret_offset)
{
    const uint64_t count = file->count;
    uint64_t offsets_at = IDS_AT + count * (oid_bytes + 4), large;
    uint32_t position, offset;

    if (!find_position(file, oid, oid_bytes, &position) ||
        !read_be32(file->index_fd, offsets_at + (uint64_t)position * 4, &offset))
        return false;
    *ret_offset = offset;
    if (!(offset & LARGE_OFFSET))
        return true;
    if (!read_at(file->index_fd, &large, sizeof(large),
                 offsets_at + count * 4 + (uint64_t)(offset & ~LARGE_OFFSET) * 8))
        return false;
    *ret_offset = be64toh(large);
    return true;
}

static int pack_of(const struct source *source, struct al_packed_file *file)
{
    al_auto(al_freep) char *name = NULL;

    if (file->pack_fd >= 0)
        return file->pack_fd;
    name = al_asprintf("%.*s.pack", (int)(strlen(file->name) - strlen(".idx")), file->name);
    file->pack_fd = open_file(source->dir_fd, name);
    return file->pack_fd;
}

/* Read "<type and size> [<base>]".  The bytes after the end of a short pack are zeros here. */
static bool read_head(int fd, uint64_t at, size_t oid_bytes, struct packed *ret)
{
    unsigned char head[HEAD_BYTES] = { 0 };
    uint64_t back;
    size_t n = 0;
    unsigned shift = 4;

    if (at > INT64_MAX || pread(fd, head, sizeof(head), (off_t)at) <= 0)
        return false;
    *ret = (struct packed){ .type = head[0] >> 4 & 7, .size = head[0] & 15 };
    while (head[n++] & 0x80) {
        if (n > 4)
            return false; /* far above the limit */
        ret->size |= (size_t)(head[n] & 0x7f) << shift;
        shift += 7;
    }
    if (ret->type == REF_DELTA) {
        memcpy(ret->base.bytes, head + n, oid_bytes);
        n += oid_bytes;
    } else if (ret->type == OFS_DELTA) {
        back = head[n] & 0x7f;
        while (head[n++] & 0x80) {
            if (n > 14)
                return false;
            back = ((back + 1) << 7) | (head[n] & 0x7f);
        }
        if (back == 0 || back > at)
            return false;
        ret->base_at = at - back;
    }
    ret->data_at = at + n;
    return true;
}

/* Decompress exactly `size` bytes; NULL when that is not what is there. */
static unsigned char *inflate_at(int fd, uint64_t at, size_t size)
{
    al_auto(al_freep) unsigned char *bytes = al_malloc(size + 1);
    const uint64_t last = at + STREAM_MAX_BYTES(size);
    unsigned char chunk[CHUNK_BYTES];
    z_stream stream = { .next_out = bytes, .avail_out = (uInt)size + 1 };
    int r = inflateInit(&stream);

    if (r != Z_OK)
        return NULL;
    while (r == Z_OK) {
        ssize_t got = at > INT64_MAX || at > last ? -1 : pread(fd, chunk, sizeof(chunk), (off_t)at);

        if (got <= 0)
            break;
        at += (uint64_t)got;
        stream.next_in = chunk;
        stream.avail_in = (uInt)got;
        r = inflate(&stream, Z_NO_FLUSH);
    }
    (void)inflateEnd(&stream);
    if (r != Z_STREAM_END || stream.total_out != size)
        return NULL;
    bytes[size] = '\0';
    return al_take(&bytes);
}

/** The deltas on the way from an object to its base. */
struct chain {
    struct al_delta items[AL_DELTAS_MAX];
    size_t count, bytes;
};

static void chain_clear(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        free(chain->items[i].data);
}

/* Apply the deltas, the last one first. */
static bool apply_all(struct al_packed_files *files, const struct chain *chain, size_t max_bytes,
                      struct al_loose_object *object)
{
    for (size_t i = chain->count; i-- > 0;) {
        unsigned char *made;
        size_t len;

        if (files->work > WORK_MAX_BYTES ||
            !al_delta_apply(&chain->items[i], object->memory, object->len, max_bytes, &made, &len))
            return false;
        free(object->memory);
        object->memory = made;
        object->len = len;
        files->work += len;
    }
    return true;
}

/* Read an object, and what it is a delta of. */
static bool read_object(const struct source *source, struct al_packed_file *file, uint64_t at,
                        size_t max_bytes, struct al_loose_object *ret)
{
    al_auto(chain_clear) struct chain chain = { .count = 0 };
    size_t oid_bytes = al_oid_bytes(source->sha256);
    int fd = pack_of(source, file);
    struct packed packed;

    while (read_head(fd, at, oid_bytes, &packed) && packed.size <= max_bytes) {
        unsigned char *bytes = NULL;

        /* It counts whether it can be decompressed or not. */
        source->files->work += packed.size + (packed.type == REF_DELTA ? SEARCH_BYTES : 0);
        if (source->files->work <= WORK_MAX_BYTES)
            bytes = inflate_at(fd, packed.data_at, packed.size);
        if (!bytes)
            return false;
        if (packed.type != OFS_DELTA && packed.type != REF_DELTA) {
            ret->memory = bytes;
            ret->len = packed.size;
            ret->type = (enum al_object_type)packed.type;
            return packed.type >= AL_OBJECT_COMMIT && packed.type <= AL_OBJECT_BLOB &&
                   apply_all(source->files, &chain, max_bytes, ret);
        }
        if (chain.count == AL_DELTAS_MAX || (chain.bytes += packed.size) > max_bytes) {
            free(bytes);
            return false;
        }
        chain.items[chain.count++] = (struct al_delta){ .data = bytes, .len = packed.size };
        at = packed.base_at;
        if (packed.type == REF_DELTA && !find_offset(file, &packed.base, oid_bytes, &at))
            return false;
    }
    return false;
}

bool al_packed_object_read(struct al_packed_files *files, int common_fd, const struct al_oid *oid,
                           bool sha256, size_t max_bytes, struct al_loose_object *ret_object)
{
    al_auto(al_closep) int dir_fd =
        al_nofollow_open(common_fd, "objects/pack", O_RDONLY | O_DIRECTORY);
    const struct source source = { .files = files, .dir_fd = dir_fd, .sha256 = sha256 };
    size_t most = max_bytes < AL_LOOSE_MAX_BYTES ? max_bytes : AL_LOOSE_MAX_BYTES;

    if (dir_fd >= 0 && !files->opened)
        open_files(files, dir_fd);
    for (size_t i = 0; i < files->count; i++) {
        al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
        struct al_oid found;
        uint64_t at;

        if (!find_offset(&files->items[i], oid, al_oid_bytes(sha256), &at) ||
            !read_object(&source, &files->items[i], at, most, &object))
            continue;
        al_oid_of(sha256, object.type, object.memory, object.len, &found);
        if (!al_oid_equal(&found, oid))
            continue;
        *ret_object = object;
        ret_object->data = (const char *)object.memory;
        object.memory = NULL;
        return true;
    }
    return false;
}
