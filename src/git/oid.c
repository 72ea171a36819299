// SPDX-License-Identifier: Apache-2.0
#include "git/oid.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/str.h"

#define SET_MIN     64
#define PIECE_BYTES (64u * 1024u)

size_t al_oid_bytes(bool sha256)
{
    return sha256 ? SHA256_DIGEST_SIZE : SHA1_DIGEST_SIZE;
}

void al_oid_text(const struct al_oid *oid, bool sha256, char ret_text[AL_OID_TEXT])
{
    static const char digits[] = "0123456789abcdef"; /* nettle's encoder takes four times as long */
    const size_t len = al_oid_bytes(sha256);

    for (size_t i = 0; i < 2 * len; i++)
        ret_text[i] = digits[oid->bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    ret_text[2 * len] = '\0';
}

/* The value of a hex digit, -1 for any other character. */
static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool al_oid_parse(const char *text, bool sha256, struct al_oid *ret_oid)
{
    size_t len = al_oid_bytes(sha256);

    *ret_oid = (struct al_oid){ .bytes = { 0 } };
    for (size_t i = 0; i < len; i++) {
        int high = digit_of(text[2 * i]);
        int low = high < 0 ? -1 : digit_of(text[2 * i + 1]);

        if (low < 0)
            return false;
        ret_oid->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return digit_of(text[2 * len]) < 0;
}

bool al_oid_equal(const struct al_oid *a, const struct al_oid *b)
{
    return !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

bool al_oid_is_none(const struct al_oid *oid)
{
    static const struct al_oid none;

    return al_oid_equal(oid, &none);
}

static bool is_noted(const struct al_noted *noted, const struct al_oid *id)
{
    bool found = false;

    for (size_t i = 0; i < AL_NOTED_MAX; i++)
        found |= al_oid_equal(&noted->ids[i], id);
    return found;
}

bool al_noted_has(struct al_noted *noted, const struct al_oid *id)
{
    al_hold(&noted->lock);
    return is_noted(noted, id);
}

void al_noted_add(struct al_noted *noted, const struct al_oid *id)
{
    al_hold(&noted->lock);
    if (!is_noted(noted, id))
        noted->ids[noted->next++ % AL_NOTED_MAX] = *id;
}

void al_hash_init(struct al_hash *hash, bool sha256)
{
    hash->sha256 = sha256;
    if (sha256)
        sha256_init(&hash->ctx.sha256);
    else
        sha1_init(&hash->ctx.sha1);
}

void al_hash_add(struct al_hash *hash, const void *data, size_t len)
{
    if (hash->sha256)
        sha256_update(&hash->ctx.sha256, len, data);
    else
        sha1_update(&hash->ctx.sha1, len, data);
}

void al_hash_end(struct al_hash *hash, struct al_oid *ret_oid)
{
    *ret_oid = (struct al_oid){ .bytes = { 0 } };
    if (hash->sha256)
        sha256_digest(&hash->ctx.sha256, SHA256_DIGEST_SIZE, ret_oid->bytes);
    else
        sha1_digest(&hash->ctx.sha1, SHA1_DIGEST_SIZE, ret_oid->bytes);
}

void al_hash_text(struct al_hash *hash, char ret_text[AL_OID_TEXT])
{
    struct al_oid oid;

    al_hash_end(hash, &oid);
    al_oid_text(&oid, hash->sha256, ret_text);
}

const char *const al_object_types[] = { "", "commit", "tree", "blob", "tag" };

void al_hash_init_object(struct al_hash *hash, bool sha256, enum al_object_type type, uint64_t size)
{
    char head[32];
    int len = snprintf(head, sizeof(head), "%s %" PRIu64, al_object_types[type], size);

    al_hash_init(hash, sha256);
    al_hash_add(hash, head, (size_t)len + 1);
}

void al_oid_of(bool sha256, enum al_object_type type, const void *data, size_t len,
               struct al_oid *ret_oid)
{
    struct al_hash hash;

    al_hash_init_object(&hash, sha256, type, len);
    al_hash_add(&hash, data, len);
    al_hash_end(&hash, ret_oid);
}

int al_oid_of_file(int fd, uint64_t size, bool sha256, struct al_oid *ret_oid)
{
    char piece[PIECE_BYTES];
    uint64_t left = size;
    struct al_hash hash;
    ssize_t n;

    al_hash_init_object(&hash, sha256, AL_OBJECT_BLOB, size);
    while ((n = read(fd, piece, sizeof(piece))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if ((uint64_t)n > left)
            return -EAGAIN;
        left -= (uint64_t)n;
        al_hash_add(&hash, piece, (size_t)n);
    }
    al_hash_end(&hash, ret_oid);
    return left ? -EAGAIN : 0;
}

void al_oids_in(const char *text, bool sha256, size_t most, struct al_strv *ids)
{
    const size_t width = 2 * al_oid_bytes(sha256);

    for (const char *at = text, *end; *at && ids->count < most; at = *end ? end + 1 : end) {
        struct al_oid oid;
        char word[AL_OID_TEXT];

        for (end = at; isxdigit((unsigned char)*end); end++)
            ;
        if ((size_t)(end - at) != width)
            continue;
        (void)snprintf(word, sizeof(word), "%.*s", (int)width, at);
        if (al_oid_parse(word, sha256, &oid) && !al_oid_is_none(&oid))
            al_strv_add(ids, word);
    }
}

void al_oid_set_clear(struct al_oid_set *set)
{
    free(set->slots);
    *set = (struct al_oid_set){ .slots = NULL };
}

/* The first bytes of an id are its hash value: ids are evenly distributed.  A free slot holds no
 * id. */
static struct al_oid *slot_of(const struct al_oid_set *set, const struct al_oid *oid)
{
    size_t at;

    memcpy(&at, oid->bytes, sizeof(at));
    for (at &= set->capacity - 1;; at = (at + 1) & (set->capacity - 1))
        if (al_oid_is_none(&set->slots[at]) || al_oid_equal(&set->slots[at], oid))
            return &set->slots[at];
}

static void grow(struct al_oid_set *set)
{
    struct al_oid_set larger = { .capacity = set->capacity ? 2 * set->capacity : SET_MIN,
                                 .count = set->count };

    larger.slots = al_calloc(larger.capacity, sizeof(*larger.slots));
    for (size_t i = 0; i < set->capacity; i++)
        if (!al_oid_is_none(&set->slots[i]))
            *slot_of(&larger, &set->slots[i]) = set->slots[i];
    free(set->slots);
    *set = larger;
}

bool al_oid_set_add(struct al_oid_set *set, const struct al_oid *oid)
{
    struct al_oid *slot;

    if (2 * (set->count + 1) > set->capacity)
        grow(set);
    slot = slot_of(set, oid);
    if (!al_oid_is_none(slot))
        return false;
    *slot = *oid;
    set->count++;
    return true;
}

bool al_oid_set_has(const struct al_oid_set *set, const struct al_oid *oid)
{
    return set->capacity && !al_oid_is_none(slot_of(set, oid));
}

char *al_git_blob_id(bool sha256, const void *data, size_t len)
{
    struct al_oid oid;
    char text[AL_OID_TEXT];

    al_oid_of(sha256, AL_OBJECT_BLOB, data, len, &oid);
    al_oid_text(&oid, sha256, text);
    return al_strdup(text);
}
