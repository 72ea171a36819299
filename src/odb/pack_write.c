// SPDX-License-Identifier: Apache-2.0
#include "odb/pack_write.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "odb/pack_image.h"
#include "odb/write_behind.h"
#include "util/fs.h"

#define BUFFER_BYTES   (128u * 1024u)
#define BEHIND_BYTES   (1u << 20) /* more are written by a thread, while the next ones come */
#define PACK_MAX_BYTES (1u << 30) /* a larger pack is finished before the next object */
/* Fast, since a call waits for it.  Packs that stay are compressed better when they are joined. */
#define LEVEL 1

struct al_pack {
    int dir_fd;
    bool sha256, durable;
    int fd; /* -1 until something is written */
    char name[48];
    struct al_pack_entry *entries;
    size_t count, capacity;
    uint64_t written; /* bytes in the file, before those in the buffer */
    uint64_t before;  /* bytes of the packs finished already */
    size_t buffered;
    uint64_t begun_at; /* offset of the last object */
    bool ended;        /* the last object has an entry */
    bool open;         /* the last object has no entry and was not undone */
    uint32_t crc;
    uint32_t expected;  /* the number of objects; 0: it is not known before the end */
    struct al_hash sum; /* of what is written, if the number is known */
    struct al_hash hash;
    z_stream deflate;
    bool has_deflate, store_only;
    struct al_write_behind *behind;
    unsigned char *buffer; /* one of these */
    unsigned char buffers[2][BUFFER_BYTES];
};

struct al_pack *al_pack_new(int dir_fd, bool sha256, bool durable)
{
    struct al_pack *pack = al_calloc(1, sizeof(*pack));

    pack->dir_fd = dir_fd;
    pack->sha256 = sha256;
    pack->durable = durable;
    pack->fd = -1;
    pack->buffer = pack->buffers[0];
    return pack;
}

void al_pack_store_only(struct al_pack *pack)
{
    pack->store_only = true;
}

void al_pack_expect(struct al_pack *pack, uint32_t count)
{
    pack->expected = count;
}

static void end_behind(struct al_pack *pack)
{
    al_write_behind_end(pack->behind);
    pack->behind = NULL;
}

static void abandon(struct al_pack *pack)
{
    end_behind(pack);
    if (pack->fd >= 0) {
        (void)unlinkat(pack->dir_fd, pack->name, 0);
        al_closep(&pack->fd);
    }
    pack->fd = -1;
    pack->count = 0;
    pack->buffered = 0;
    pack->written = 0;
}

void al_pack_free(struct al_pack *pack)
{
    if (!pack)
        return;
    abandon(pack);
    if (pack->has_deflate)
        (void)deflateEnd(&pack->deflate);
    free(pack->entries);
    free(pack);
}

static int failed(int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot write to the checkpoint store");
}

static uint64_t position(const struct al_pack *pack)
{
    return pack->written + pack->buffered;
}

static int open_file(struct al_pack *pack, struct al_error *err)
{
    static atomic_uint serial;

    (void)snprintf(pack->name, sizeof(pack->name), "tmp_pack_%ld_%u", (long)getpid(),
                   atomic_fetch_add(&serial, 1));
    pack->fd = openat(pack->dir_fd, pack->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return pack->fd < 0 ? failed(errno, err) : 0;
}

/* 0 or -errno */
static int write_buffer(struct al_pack *pack)
{
    int r;

    if (pack->expected && !pack->behind && pack->written >= BEHIND_BYTES)
        pack->behind = al_write_behind_begin(pack->fd, &pack->sum);
    if (pack->behind) {
        r = al_write_behind_put(pack->behind, pack->buffer, pack->buffered);
        pack->buffer = pack->buffers[pack->buffer == pack->buffers[0]];
        return r;
    }
    r = al_write_all(pack->fd, pack->buffer, pack->buffered);
    if (r == 0 && pack->expected)
        al_hash_add(&pack->sum, pack->buffer, pack->buffered);
    return r;
}

static int flush(struct al_pack *pack, struct al_error *err)
{
    int r = pack->fd < 0 ? open_file(pack, err) : 0;

    if (r < 0)
        return r;
    r = write_buffer(pack);
    if (r < 0)
        return failed(-r, err);
    pack->written += pack->buffered;
    pack->buffered = 0;
    return 0;
}

static int put(struct al_pack *pack, const void *data, size_t len, struct al_error *err)
{
    const unsigned char *at = data;

    pack->crc = (uint32_t)crc32(pack->crc, data, (uInt)len);
    while (len) {
        size_t room = BUFFER_BYTES - pack->buffered;
        size_t piece = len < room ? len : room;

        memcpy(pack->buffer + pack->buffered, at, piece);
        pack->buffered += piece;
        at += piece;
        len -= piece;
        if (pack->buffered == BUFFER_BYTES) {
            int r = flush(pack, err);

            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* An object's header: its type and four bits of its size, then seven bits of the size in each byte.
 */
static size_t object_head(enum al_object_type type, uint64_t size, unsigned char head[10])
{
    size_t len = 0;
    unsigned c = (unsigned)type << 4 | (unsigned)(size & 15);

    for (size >>= 4; size; size >>= 7) {
        head[len++] = (unsigned char)(c | 0x80);
        c = (unsigned)(size & 0x7f);
    }
    head[len++] = (unsigned char)c;
    return len;
}

static int begin_deflate(struct al_pack *pack, struct al_error *err)
{
    if (pack->has_deflate) {
        (void)deflateReset(&pack->deflate);
        return 0;
    }
    /* Tables that are not used are small, since they are cleared for each object. */
    if (deflateInit2(&pack->deflate, pack->store_only ? Z_NO_COMPRESSION : LEVEL, Z_DEFLATED,
                     MAX_WBITS, pack->store_only ? 1 : MAX_MEM_LEVEL - 1,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return failed(ENOMEM, err);
    pack->has_deflate = true;
    return 0;
}

/* The beginning of the file: its type, its version and the number of objects. */
static void make_head(uint32_t count, uint32_t ret_head[3])
{
    ret_head[0] = htobe32(0x5041434b);
    ret_head[1] = htobe32(2);
    ret_head[2] = htobe32(count);
}

static int begin_file(struct al_pack *pack, struct al_error *err)
{
    uint32_t head[3];

    make_head(pack->expected, head);
    al_hash_init(&pack->sum, pack->sha256);
    return put(pack, head, sizeof(head), err);
}

int al_pack_begin(struct al_pack *pack, enum al_object_type type, uint64_t size,
                  struct al_error *err)
{
    unsigned char head[10];
    int r = 0;

    if (size >= AL_PACK_OBJECT_MAX_BYTES)
        return failed(EFBIG, err);
    if (position(pack) > PACK_MAX_BYTES)
        r = al_pack_finish(pack, err);
    if (r == 0 && !position(pack))
        r = begin_file(pack, err);
    if (r == 0)
        r = begin_deflate(pack, err);
    if (r < 0)
        return r;
    pack->begun_at = position(pack);
    pack->ended = false;
    pack->open = true;
    pack->crc = (uint32_t)crc32(0, NULL, 0);
    al_hash_init_object(&pack->hash, pack->sha256, type, size);
    return put(pack, head, object_head(type, size, head), err);
}

/* Compress the data.  With `flag` Z_FINISH, complete the stream. */
static int deflate_all(struct al_pack *pack, const void *data, size_t len, int flag,
                       struct al_error *err)
{
    unsigned char out[16 * 1024];
    z_stream *z = &pack->deflate;
    int said, r;

    z->next_in = (Bytef *)(uintptr_t)data;
    z->avail_in = (uInt)len;
    do {
        z->next_out = out;
        z->avail_out = sizeof(out);
        said = deflate(z, flag);
        r = put(pack, out, sizeof(out) - z->avail_out, err);
        if (r < 0)
            return r;
    } while (flag == Z_FINISH ? said != Z_STREAM_END : z->avail_in || !z->avail_out);
    return 0;
}

int al_pack_add(struct al_pack *pack, const void *data, size_t len, struct al_error *err)
{
    al_hash_add(&pack->hash, data, len);
    return deflate_all(pack, data, len, Z_NO_FLUSH, err);
}

int al_pack_end(struct al_pack *pack, struct al_oid *ret_oid, struct al_error *err)
{
    struct al_pack_entry *entry;
    int r = deflate_all(pack, "", 0, Z_FINISH, err);

    if (r < 0)
        return r;
    if (pack->count == pack->capacity) {
        pack->capacity = pack->capacity ? 2 * pack->capacity : 64;
        pack->entries = al_reallocarray(pack->entries, pack->capacity, sizeof(*pack->entries));
    }
    entry = &pack->entries[pack->count++];
    *entry = (struct al_pack_entry){ .crc = pack->crc, .offset = (uint32_t)pack->begun_at };
    al_hash_end(&pack->hash, &entry->oid);
    pack->ended = true;
    pack->open = false;
    *ret_oid = entry->oid;
    return 0;
}

int al_pack_undo(struct al_pack *pack, struct al_error *err)
{
    if (pack->ended)
        pack->count--;
    pack->ended = false;
    pack->open = false;
    if (pack->begun_at >= pack->written) {
        pack->buffered = (size_t)(pack->begun_at - pack->written);
        return 0;
    }
    end_behind(pack);
    pack->expected = 0; /* what was hashed is taken away */
    pack->buffered = 0;
    pack->written = pack->begun_at;
    if (ftruncate(pack->fd, (off_t)pack->written) < 0 ||
        lseek(pack->fd, (off_t)pack->written, SEEK_SET) < 0)
        return failed(errno, err);
    return 0;
}

uint64_t al_pack_bytes(const struct al_pack *pack)
{
    return pack->before + position(pack);
}

/* Write the number of objects, which was not known before, and hash the file by reading it back. */
static int hash_file(struct al_pack *pack, struct al_oid *ret_sum, struct al_error *err)
{
    struct al_hash hash;
    uint32_t head[3];
    uint64_t at = 0;
    ssize_t n;

    make_head((uint32_t)pack->count, head);
    if (pwrite(pack->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
        return failed(errno, err);
    al_hash_init(&hash, pack->sha256);
    while ((n = pread(pack->fd, pack->buffer, BUFFER_BYTES, (off_t)at)) > 0) {
        al_hash_add(&hash, pack->buffer, (size_t)n);
        at += (uint64_t)n;
    }
    if (n < 0)
        return failed(errno, err);
    al_hash_end(&hash, ret_sum);
    return 0;
}

/* Write the checksum. */
static int seal(struct al_pack *pack, struct al_oid *ret_sum, struct al_error *err)
{
    int r = flush(pack, err), written = pack->behind ? al_write_behind_wait(pack->behind) : 0;

    end_behind(pack);
    if (r == 0 && written < 0)
        r = failed(-written, err);
    if (r < 0)
        return r;
    if (pack->expected && pack->count == pack->expected)
        al_hash_end(&pack->sum, ret_sum);
    else
        r = hash_file(pack, ret_sum, err);
    if (r < 0)
        return r;
    pack->expected = 0;
    r = al_write_all(pack->fd, ret_sum->bytes, al_oid_bytes(pack->sha256));
    pack->written += al_oid_bytes(pack->sha256);
    return r < 0 ? failed(-r, err) : 0;
}

static int write_index(struct al_pack *pack, const char *name, const struct al_oid *pack_sum,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    int r;

    al_pack_image_add_index(pack->entries, pack->count, pack_sum, pack->sha256, &out);
    r = pack->durable ? al_fs_write_durable(pack->dir_fd, name, out.buf, out.len, 0400)
                      : al_fs_write_atomic(pack->dir_fd, name, out.buf, out.len, 0400, true);
    return r < 0 ? failed(-r, err) : 0;
}

bool al_pack_take_image(struct al_pack *pack, struct al_pack_image *ret_image)
{
    size_t oid_bytes = al_oid_bytes(pack->sha256);
    struct al_hash hash;
    struct al_oid sum;
    uint32_t head[3];

    if (pack->open)
        (void)al_pack_undo(pack, NULL); /* only memory is changed unless the pack has a file */
    if (pack->fd >= 0 || pack->before)
        return false;
    *ret_image = AL_PACK_IMAGE_INIT;
    if (!pack->count)
        return true;
    make_head((uint32_t)pack->count, head);
    memcpy(pack->buffer, head, sizeof(head));
    al_hash_init(&hash, pack->sha256);
    al_hash_add(&hash, pack->buffer, pack->buffered);
    al_hash_end(&hash, &sum);
    al_str_reserve(&ret_image->pack, pack->buffered + oid_bytes);
    al_str_add(&ret_image->pack, pack->buffer, pack->buffered);
    al_str_add(&ret_image->pack, sum.bytes, oid_bytes);
    al_pack_image_add_index(pack->entries, pack->count, &sum, pack->sha256, &ret_image->index);
    pack->count = 0;
    pack->buffered = 0;
    pack->begun_at = 0;
    return true;
}

int al_pack_finish(struct al_pack *pack, struct al_error *err)
{
    char hash[AL_OID_TEXT], pack_name[AL_OID_TEXT + 16], index_name[AL_OID_TEXT + 16];
    struct al_oid sum;
    int r;

    r = pack->open ? al_pack_undo(pack, err) : 0;
    if (r < 0 || !pack->count)
        return r;
    r = seal(pack, &sum, err);
    if (r < 0)
        return r;
    al_oid_text(&sum, pack->sha256, hash);
    (void)snprintf(pack_name, sizeof(pack_name), "pack-%s.pack", hash);
    (void)snprintf(index_name, sizeof(index_name), "pack-%s.idx", hash);
    /* The pack is renamed first, because git looks for a pack when it finds an index.  Both files
     * are on the disk before any reference names their objects.  The names become durable with the
     * index. */
    r = pack->durable ? al_fs_sync(pack->fd) : 0;
    if (r < 0)
        return failed(-r, err);
    if (fchmod(pack->fd, 0400) < 0 ||
        renameat(pack->dir_fd, pack->name, pack->dir_fd, pack_name) < 0)
        return failed(errno, err);
    r = write_index(pack, index_name, &sum, err);
    pack->before += pack->written;
    al_closep(&pack->fd);
    pack->fd = -1;
    pack->count = 0;
    pack->written = 0;
    pack->begun_at = 0;
    return r;
}
