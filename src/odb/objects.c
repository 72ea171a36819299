// SPDX-License-Identifier: Apache-2.0
#include "odb/objects.h"

#include <pthread.h>
#include <stdio.h>

#include "odb/tree.h"

#define PIECE_MIN_BYTES 2048u
#define PIECE_MAX_BYTES 65536u
/* A piece ends where thirteen bits of the rolling hash are zero: after about 8 KiB beyond the
 * minimum. */
#define CUT_MASK 0xfff8000000000000u

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

/* An object that is not found is written again. */
static bool open_packs(struct al_objects *objects)
{
    if (al_packs_open(objects->dir_fd, objects->sha256, &objects->packs, NULL) < 0)
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
    if (!al_packs_have(objects->packs, oid))
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
    for (size_t i = PIECE_MIN_BYTES - 64; i < end; i++) {
        hash = (hash << 1) + gear[data[i]];
        if (i >= PIECE_MIN_BYTES && !(hash & CUT_MASK))
            return i + 1;
    }
    return end;
}

int al_objects_put_pieces(struct al_objects *objects, const void *data, size_t len,
                          struct al_oid *ret_tree, struct al_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    const uint8_t *at = data;

    (void)pthread_once(&once, make_gear);
    for (unsigned i = 0; len; i++) {
        size_t piece = piece_len(at, len);
        struct al_oid oid;
        char name[16];
        int r = al_objects_put(objects, AL_OBJECT_BLOB, at, piece, &oid, err);

        if (r < 0)
            return r;
        (void)snprintf(name, sizeof(name), "%06u", i);
        al_tree_add(&tree, 0100644, name, &oid, objects->sha256);
        at += piece;
        len -= piece;
    }
    return al_objects_put(objects, AL_OBJECT_TREE, tree.buf, tree.len, ret_tree, err);
}

bool al_objects_take_image(struct al_objects *objects, struct al_pack_image *ret_image)
{
    return al_pack_take_image(objects->pack, ret_image);
}

int al_objects_finish(struct al_objects *objects, struct al_error *err)
{
    return al_pack_finish(objects->pack, err);
}
