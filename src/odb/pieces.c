// SPDX-License-Identifier: Apache-2.0
#include "odb/pieces.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "odb/tree.h"

#define PIECE_MIN_BYTES 2048u
#define PIECE_MAX_BYTES 65536u
/* A piece ends where thirteen bits of the rolling hash are zero: after about 8 KiB beyond the
 * minimum. */
#define CUT_MASK   0xfff8000000000000u
#define READ_BYTES (4u * PIECE_MAX_BYTES) /* of a file that is cut while it is read */

/* A number for each byte value, with bits spread evenly.  They must never change, or the same
 * content would be cut into other pieces. */
static uint64_t gear[256];

static void make_gear(void)
{
    uint64_t x = 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < AL_COUNT(gear); i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        gear[i] = x;
    }
}

/* The length of the next piece.  After 64 more bytes the hash no longer depends on a byte. */
static size_t piece_len(const uint8_t *data, size_t len)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t end = len < PIECE_MAX_BYTES ? len : PIECE_MAX_BYTES;
    uint64_t hash = 0;

    if (len <= PIECE_MIN_BYTES)
        return len;
    (void)pthread_once(&once, make_gear);
    for (size_t i = PIECE_MIN_BYTES - 64; i < PIECE_MIN_BYTES; i++)
        hash = (hash << 1) + gear[data[i]];
    for (size_t i = PIECE_MIN_BYTES; i < end; i++) {
        hash = (hash << 1) + gear[data[i]];
        if (!(hash & CUT_MASK))
            return i + 1;
    }
    return end;
}

struct al_pieces al_pieces_begin(struct al_objects *objects)
{
    return (struct al_pieces){ .objects = objects, .tree = AL_STR_INIT };
}

void al_pieces_add(struct al_pieces *pieces, const struct al_oid *oid)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "%06u", pieces->count++);
    al_tree_add(&pieces->tree, 0100644, name, oid, pieces->objects->sha256);
}

int al_pieces_put(struct al_pieces *pieces, const void *data, size_t len, struct al_oid *ret_oid,
                  struct al_error *err)
{
    int r = al_objects_put(pieces->objects, AL_OBJECT_BLOB, data, len, ret_oid, err);

    al_pieces_add(pieces, ret_oid);
    return r;
}

int al_pieces_end(struct al_pieces *pieces, int r, struct al_oid *ret_tree, struct al_error *err)
{
    if (r == 0)
        r = al_objects_put(pieces->objects, AL_OBJECT_TREE, pieces->tree.buf, pieces->tree.len,
                           ret_tree, err);
    al_str_clear(&pieces->tree);
    return r;
}

int al_objects_put_pieces(struct al_objects *objects, const void *data, size_t len,
                          struct al_oid *ret_tree, struct al_error *err)
{
    struct al_pieces pieces = al_pieces_begin(objects);
    struct al_oid oid;
    const uint8_t *at = data;
    size_t used;
    int r = 0;

    for (; len && r == 0; at += used, len -= used) {
        used = piece_len(at, len);
        r = al_pieces_put(&pieces, at, used, &oid, err);
    }
    return al_pieces_end(&pieces, r, ret_tree, err);
}

/* Fill a buffer from a file.  The number of bytes, or -errno. */
static ssize_t fill(int fd, uint8_t *buffer, size_t size, uint64_t at)
{
    size_t len = 0;

    while (len < size) {
        ssize_t n = pread(fd, buffer + len, size - len, (off_t)(at + len));

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        if (n > 0)
            len += (size_t)n;
    }
    return (ssize_t)len;
}

/** What was read of a file and is in no piece yet. */
struct rest {
    uint8_t *buffer; /* READ_BYTES */
    size_t from, have;
    bool ended; /* the file has no more */
};

/* Read on unless there is enough for a piece: it is cut as if all bytes were in memory. */
static int refill(struct rest *rest, int fd, uint64_t at, struct al_error *err)
{
    ssize_t n;

    if (rest->ended || rest->have - rest->from >= PIECE_MAX_BYTES)
        return 0;
    memmove(rest->buffer, rest->buffer + rest->from, rest->have - rest->from);
    rest->have -= rest->from;
    rest->from = 0;
    n = fill(fd, rest->buffer + rest->have, READ_BYTES - rest->have, at + rest->have);
    if (n < 0)
        return al_error_errno(err, (int)-n, "cannot read the index");
    rest->ended = (size_t)n < READ_BYTES - rest->have;
    rest->have += (size_t)n;
    return 0;
}

int al_pieces_put_rest(struct al_pieces *pieces, int fd, uint64_t from, uint64_t *ret_end,
                       struct al_error *err)
{
    al_auto(al_freep) uint8_t *buffer = al_malloc(READ_BYTES);
    struct rest rest = { .buffer = buffer };
    struct al_oid oid;
    size_t used;
    int r;

    *ret_end = from;
    for (;;) {
        r = refill(&rest, fd, *ret_end, err);
        if (r < 0 || rest.from == rest.have)
            return r;
        used = piece_len(buffer + rest.from, rest.have - rest.from);
        r = al_pieces_put(pieces, buffer + rest.from, used, &oid, err);
        if (r < 0)
            return r;
        rest.from += used;
        *ret_end += used;
    }
}
