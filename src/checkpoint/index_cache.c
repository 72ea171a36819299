// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/index_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

#define NAME      "index"
#define MAX_BYTES (1 << 30)
/* So much is written over the file that is there, which takes less time than a new one.  Its sum
 * finds a write that was cut short. */
#define IN_PLACE_BYTES (64u * 1024)

/* The beginning of the file.  It has the sizes of the structures, so that a cache of another build
 * is not used. */
struct head {
    char magic[8];
    uint32_t head_bytes, piece_bytes;
    uint32_t sha256, sum; /* the sum is that of everything, with zero in its own place */
    uint64_t npieces, ends_bytes, oids_bytes;
    char reference[96];
    struct al_stat_cache_file index;
    struct al_oid end, staged;
    uint32_t depth, has_marks, version;
};

static const char magic[8] = "AIRIND2";

void al_index_cache_clear(struct al_index_cache *cache)
{
    al_index_pieces_clear(&cache->pieces);
    *cache = AL_INDEX_CACHE_INIT;
}

static bool is_usable(const struct head *head, uint64_t bytes, bool sha256)
{
    return !memcmp(head->magic, magic, sizeof(magic)) && head->head_bytes == sizeof(*head) &&
           head->piece_bytes == sizeof(struct al_index_piece) && head->sha256 == sha256 &&
           head->npieces <= bytes / sizeof(struct al_index_piece) && head->ends_bytes <= bytes &&
           head->oids_bytes <= bytes &&
           bytes == sizeof(*head) + head->npieces * sizeof(struct al_index_piece) +
                        head->ends_bytes + head->oids_bytes &&
           memchr(head->reference, '\0', sizeof(head->reference));
}

/* Test whether the file is whole.  `data` has all of it. */
static bool is_whole(struct al_str *data, const struct head *head)
{
    struct head without = *head;

    without.sum = 0;
    memcpy(data->buf, &without, sizeof(without));
    return al_stat_cache_sum(data->buf, data->len) == head->sum;
}

/* Test whether the pieces belong to the paths and the objects after them. */
static bool fits(const struct al_index_pieces *pieces, size_t oid_bytes)
{
    uint64_t noids = 0;
    size_t at = 0, i = 0;

    for (; i < pieces->count && at < pieces->ends.len; i++) {
        noids += pieces->items[i].noids;
        at += strlen(pieces->ends.buf + at) + 1;
    }
    return i == pieces->count && at == pieces->ends.len && noids * oid_bytes == pieces->oids.len;
}

static bool take_pieces(struct al_index_cache *cache, const struct al_str *data,
                        const struct head *head)
{
    struct al_index_pieces *pieces = &cache->pieces;
    const char *at = data->buf + sizeof(*head);

    pieces->version = head->version;
    pieces->count = pieces->capacity = (size_t)head->npieces;
    pieces->items = al_calloc(pieces->count + 1, sizeof(*pieces->items));
    memcpy(pieces->items, at, pieces->count * sizeof(*pieces->items));
    at += pieces->count * sizeof(*pieces->items);
    al_str_add(&pieces->ends, at, (size_t)head->ends_bytes);
    al_str_add(&pieces->oids, at + head->ends_bytes, (size_t)head->oids_bytes);
    return fits(pieces, al_oid_bytes(head->sha256));
}

void al_index_cache_load(struct al_index_cache *cache, int dir_fd, bool sha256, bool pieces)
{
    al_auto(al_closep) int fd = openat(dir_fd, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    al_auto(al_str_clear) struct al_str data = AL_STR_INIT;
    struct head head;
    struct stat st;

    *cache = AL_INDEX_CACHE_INIT;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > MAX_BYTES ||
        pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        !is_usable(&head, (uint64_t)st.st_size, sha256))
        return;
    if ((pieces || st.st_size <= (off_t)IN_PLACE_BYTES) &&
        (al_fs_read_fd(fd, MAX_BYTES, &data) < 0 || data.len != (size_t)st.st_size ||
         !is_whole(&data, &head)))
        return;
    if (pieces && !take_pieces(cache, &data, &head)) {
        al_index_cache_clear(cache);
        return;
    }
    memcpy(cache->reference, head.reference, sizeof(cache->reference));
    cache->index = head.index;
    cache->end = head.end;
    cache->staged = head.staged;
    cache->depth = head.depth;
    cache->has_marks = head.has_marks;
}

bool al_index_cache_read_end(int fd, const struct stat *st, bool sha256, struct al_oid *ret_end)
{
    size_t bytes = al_oid_bytes(sha256);

    *ret_end = (struct al_oid){ .bytes = { 0 } };
    return st->st_size >= (off_t)bytes &&
           pread(fd, ret_end->bytes, bytes, st->st_size - (off_t)bytes) == (ssize_t)bytes;
}

bool al_index_cache_is_current(const struct al_index_cache *cache, int fd, const struct stat *st,
                               bool sha256)
{
    struct al_stat_cache_file settled = cache->index;
    struct al_oid end;

    settled.racy = false;
    if (!cache->reference[0] || !al_stat_cache_is_current(&settled, st))
        return false;
    return !cache->index.racy || (al_index_cache_read_end(fd, st, sha256, &end) &&
                                  !al_oid_is_none(&end) && al_oid_equal(&end, &cache->end));
}

/* 0 or -errno.  Two writers leave a file whose sum is wrong at worst. */
static int write_over(int dir_fd, const struct al_str *data)
{
    al_auto(al_closep) int fd =
        openat(dir_fd, NAME, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r;

    if (fd < 0)
        return -errno;
    r = al_write_all(fd, data->buf, data->len);
    return r == 0 && ftruncate(fd, (off_t)data->len) < 0 ? -errno : r;
}

int al_index_cache_save(const struct al_index_cache *cache, int dir_fd, bool sha256)
{
    const struct al_index_pieces *pieces = &cache->pieces;
    al_auto(al_str_clear) struct al_str data = AL_STR_INIT;
    struct head head;

    memset(&head, 0, sizeof(head)); /* padding is written to the disk too */
    memcpy(head.magic, magic, sizeof(magic));
    head.head_bytes = sizeof(head);
    head.piece_bytes = sizeof(*pieces->items);
    head.sha256 = sha256;
    head.npieces = pieces->count;
    head.ends_bytes = pieces->ends.len;
    head.oids_bytes = pieces->oids.len;
    memcpy(head.reference, cache->reference, sizeof(head.reference));
    head.index = cache->index;
    head.end = cache->end;
    head.staged = cache->staged;
    head.depth = cache->depth;
    head.has_marks = cache->has_marks;
    head.version = pieces->version;
    al_str_reserve(&data, sizeof(head) + pieces->count * sizeof(*pieces->items) + pieces->ends.len +
                              pieces->oids.len);
    al_str_add(&data, &head, sizeof(head));
    if (pieces->count)
        al_str_add(&data, pieces->items, pieces->count * sizeof(*pieces->items));
    al_str_add(&data, pieces->ends.buf, pieces->ends.len);
    al_str_add(&data, pieces->oids.buf, pieces->oids.len);
    head.sum = al_stat_cache_sum(data.buf, data.len);
    memcpy(data.buf, &head, sizeof(head));
    return data.len <= IN_PLACE_BYTES
               ? write_over(dir_fd, &data)
               : al_fs_write_atomic(dir_fd, NAME, data.buf, data.len, 0600, true);
}
