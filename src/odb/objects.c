// SPDX-License-Identifier: Apache-2.0
#include "odb/objects.h"

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

void al_objects_init(struct al_objects *objects, int dir_fd, int quarantine_fd, bool sha256)
{
    *objects = (struct al_objects){
        .sha256 = sha256, .dir_fd = dir_fd, .quarantine_fd = quarantine_fd, .used = AL_STR_INIT
    };
    objects->pack = quarantine_fd >= 0 ? al_pack_new(quarantine_fd, sha256, false)
                                       : al_pack_new(dir_fd, sha256, true);
}

void al_objects_clear(struct al_objects *objects)
{
    al_pack_free(objects->pack);
    al_packs_free(objects->packs);
    al_oid_set_clear(&objects->known);
    al_str_clear(&objects->used);
    objects->pack = NULL;
    objects->packs = NULL;
}

void al_objects_know(struct al_objects *objects, const struct al_oid *oid)
{
    (void)al_oid_set_add(&objects->known, oid);
}

void al_objects_ask(struct al_objects *objects, al_has_object_fn has, void *payload)
{
    objects->store_has = has;
    objects->store_payload = payload;
}

/* An object that is not found is written again. */
static bool open_packs(struct al_objects *objects)
{
    if (objects->store_has)
        objects->packs = al_packs_new(objects->sha256);
    else if (al_packs_open(objects->dir_fd, objects->sha256, &objects->packs, NULL) < 0)
        return false;
    if (objects->quarantine_fd >= 0)
        (void)al_packs_add(objects->packs, objects->quarantine_fd, NULL);
    return true;
}

bool al_objects_has(struct al_objects *objects, const struct al_oid *oid)
{
    if (al_oid_set_has(&objects->known, oid))
        return true;
    if (!objects->packs && !open_packs(objects))
        return false;
    if (!al_packs_have(objects->packs, oid) &&
        !(objects->store_has && objects->store_has(objects->store_payload, oid)))
        return false;
    al_objects_know(objects, oid);
    return true;
}

void al_objects_look_again(struct al_objects *objects)
{
    al_packs_free(objects->packs);
    objects->packs = NULL;
}

int al_objects_put(struct al_objects *objects, enum al_object_type type, const void *data,
                   size_t len, struct al_oid *ret_oid, struct al_error *err)
{
    int r;

    al_oid_of(objects->sha256, type, data, len, ret_oid);
    al_str_add(&objects->used, ret_oid, sizeof(*ret_oid));
    if (al_objects_has(objects, ret_oid))
        return 0;
    r = al_pack_begin(objects->pack, type, len, err);
    if (r == 0)
        r = al_pack_add(objects->pack, data, len, err);
    if (r == 0)
        r = al_pack_end(objects->pack, ret_oid, err);
    if (r == 0)
        al_objects_know(objects, ret_oid);
    return r;
}

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
    size_t end = len < PIECE_MAX_BYTES ? len : PIECE_MAX_BYTES;
    uint64_t hash = 0;

    if (len <= PIECE_MIN_BYTES)
        return len;
    for (size_t i = PIECE_MIN_BYTES - 64; i < PIECE_MIN_BYTES; i++)
        hash = (hash << 1) + gear[data[i]];
    for (size_t i = PIECE_MIN_BYTES; i < end; i++) {
        hash = (hash << 1) + gear[data[i]];
        if (!(hash & CUT_MASK))
            return i + 1;
    }
    return end;
}

/** Pieces while they are written. */
struct pieces {
    struct al_objects *objects;
    struct al_str tree;
    unsigned count;
};

/* Write the piece that the data begins with. */
static int put_piece(struct pieces *pieces, const uint8_t *data, size_t len, size_t *ret_used,
                     struct al_error *err)
{
    struct al_oid oid;
    char name[16];
    int r;

    *ret_used = piece_len(data, len);
    r = al_objects_put(pieces->objects, AL_OBJECT_BLOB, data, *ret_used, &oid, err);
    (void)snprintf(name, sizeof(name), "%06u", pieces->count++);
    al_tree_add(&pieces->tree, 0100644, name, &oid, pieces->objects->sha256);
    return r;
}

static struct pieces begin_pieces(struct al_objects *objects)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, make_gear);
    return (struct pieces){ .objects = objects, .tree = AL_STR_INIT };
}

/* `r`: the status so far. */
static int end_pieces(struct pieces *pieces, int r, struct al_oid *ret_tree, struct al_error *err)
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
    struct pieces pieces = begin_pieces(objects);
    const uint8_t *at = data;
    size_t used;
    int r = 0;

    for (; len && r == 0; at += used, len -= used)
        r = put_piece(&pieces, at, len, &used, err);
    return end_pieces(&pieces, r, ret_tree, err);
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

int al_objects_put_pieces_of(struct al_objects *objects, int fd, uint64_t *ret_bytes,
                             struct al_oid *ret_tree, struct al_error *err)
{
    struct pieces pieces = begin_pieces(objects);
    al_auto(al_freep) uint8_t *buffer = al_malloc(READ_BYTES);
    struct rest rest = { .buffer = buffer };
    size_t used;
    int r;

    *ret_bytes = 0;
    for (;;) {
        r = refill(&rest, fd, *ret_bytes, err);
        if (r < 0 || rest.from == rest.have)
            break;
        r = put_piece(&pieces, buffer + rest.from, rest.have - rest.from, &used, err);
        if (r < 0)
            break;
        rest.from += used;
        *ret_bytes += used;
    }
    return end_pieces(&pieces, r, ret_tree, err);
}

bool al_objects_take_image(struct al_objects *objects, struct al_pack_image *ret_image)
{
    return al_pack_take_image(objects->pack, ret_image);
}

int al_objects_finish(struct al_objects *objects, struct al_error *err)
{
    return al_pack_finish(objects->pack, err);
}
