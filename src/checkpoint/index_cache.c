// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/index_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

#define NAME       "index"
#define ROOM_MAX   (1u << 28)
#define ROOM_STEP  4096u
#define FIRST_READ (64u * 1024)

/* The beginning of the file.  It has the sizes of the structures, so that a cache of another build
 * is not used.  Pieces and paths follow.  After `room` bytes there are the ids of objects. */
struct head {
    char magic[8];
    uint32_t head_bytes, piece_bytes;
    uint32_t sha256, sum; /* the sum is that of everything before the ids, with zero in its place */
    uint64_t npieces, ends_bytes, room, oids_at;
    char reference[96];
    struct al_stat_cache_file index;
    struct al_oid end, staged;
    uint32_t depth, flags, version;
};

static const char magic[8] = "AIRIND4";

void al_index_cache_clear(struct al_index_cache *cache)
{
    al_index_pieces_clear(&cache->pieces);
    al_str_clear(&cache->oids);
    al_close(cache->fd);
    *cache = AL_INDEX_CACHE_INIT;
}

/* The bytes before the ids. */
static uint64_t front_bytes(const struct head *head)
{
    return sizeof(*head) + head->npieces * sizeof(struct al_index_piece) + head->ends_bytes;
}

static bool is_usable(const struct head *head, bool sha256)
{
    return !memcmp(head->magic, magic, sizeof(magic)) && head->head_bytes == sizeof(*head) &&
           head->piece_bytes == sizeof(struct al_index_piece) && head->sha256 == sha256 &&
           head->room <= ROOM_MAX && head->npieces <= ROOM_MAX && head->ends_bytes <= ROOM_MAX &&
           front_bytes(head) <= head->room &&
           memchr(head->reference, '\0', sizeof(head->reference));
}

/* Read everything before the ids. */
static bool read_front(int fd, bool sha256, struct al_str *data, struct head *ret_head)
{
    al_auto(al_freep) char *first = al_malloc(FIRST_READ);
    ssize_t n = pread(fd, first, FIRST_READ, 0);
    struct head without;
    size_t bytes;

    if (n < (ssize_t)sizeof(*ret_head))
        return false;
    memcpy(ret_head, first, sizeof(*ret_head));
    if (!is_usable(ret_head, sha256))
        return false;
    bytes = (size_t)front_bytes(ret_head);
    al_str_reserve(data, bytes);
    al_str_add(data, first, bytes < (size_t)n ? bytes : (size_t)n);
    while (data->len < bytes) {
        n = pread(fd, first, bytes - data->len < FIRST_READ ? bytes - data->len : FIRST_READ,
                  (off_t)data->len);
        if (n <= 0)
            return false;
        al_str_add(data, first, (size_t)n);
    }
    without = *ret_head;
    without.sum = 0;
    memcpy(data->buf, &without, sizeof(without));
    return al_stat_cache_sum(data->buf, data->len) == ret_head->sum;
}

/* False unless each piece has a path. */
static bool take_pieces(struct al_index_pieces *pieces, const struct al_str *data,
                        const struct head *head)
{
    const char *at = data->buf + sizeof(*head);
    size_t i = 0, end = 0;

    pieces->version = head->version;
    pieces->count = pieces->capacity = (size_t)head->npieces;
    pieces->items = al_calloc(pieces->count + 1, sizeof(*pieces->items));
    memcpy(pieces->items, at, pieces->count * sizeof(*pieces->items));
    at += pieces->count * sizeof(*pieces->items);
    al_str_add(&pieces->ends, at, (size_t)head->ends_bytes);
    for (; i < pieces->count && end < pieces->ends.len; i++)
        end += strlen(pieces->ends.buf + end) + 1;
    return i == pieces->count && end == pieces->ends.len;
}

void al_index_cache_load(struct al_index_cache *cache, int dir_fd, bool sha256)
{
    al_auto(al_str_clear) struct al_str data = AL_STR_INIT;
    struct head head;

    *cache = AL_INDEX_CACHE_INIT;
    cache->fd = openat(dir_fd, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (cache->fd < 0 || !read_front(cache->fd, sha256, &data, &head) ||
        !take_pieces(&cache->pieces, &data, &head)) {
        al_index_cache_clear(cache);
        return;
    }
    memcpy(cache->reference, head.reference, sizeof(cache->reference));
    cache->index = head.index;
    cache->end = head.end;
    cache->staged = head.staged;
    cache->depth = head.depth;
    cache->flags = head.flags;
    cache->room = head.room;
    cache->oids_at = head.oids_at;
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

static struct head make_head(const struct al_index_cache *cache, bool sha256)
{
    const struct al_index_pieces *pieces = &cache->pieces;
    struct head head;

    memset(&head, 0, sizeof(head)); /* padding is written to the disk too */
    memcpy(head.magic, magic, sizeof(magic));
    head.head_bytes = sizeof(head);
    head.piece_bytes = sizeof(*pieces->items);
    head.sha256 = sha256;
    head.npieces = pieces->count;
    head.ends_bytes = pieces->ends.len;
    head.room = cache->room;
    head.oids_at = cache->oids_at;
    memcpy(head.reference, cache->reference, sizeof(head.reference));
    head.index = cache->index;
    head.end = cache->end;
    head.staged = cache->staged;
    head.depth = cache->depth;
    head.flags = cache->flags;
    head.version = pieces->version;
    return head;
}

static void make_front(const struct al_index_cache *cache, struct head *head, struct al_str *front)
{
    const struct al_index_pieces *pieces = &cache->pieces;

    al_str_reserve(front, (size_t)front_bytes(head));
    al_str_add(front, head, sizeof(*head));
    if (pieces->count)
        al_str_add(front, pieces->items, pieces->count * sizeof(*pieces->items));
    al_str_add(front, pieces->ends.buf, pieces->ends.len);
    head->sum = al_stat_cache_sum(front->buf, front->len);
    memcpy(front->buf, head, sizeof(*head));
}

static int write_at(int fd, const struct al_str *data, uint64_t at)
{
    for (size_t done = 0; done < data->len;) {
        ssize_t n = pwrite(fd, data->buf + done, data->len - done, (off_t)(at + done));

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            done += (size_t)n;
    }
    return 0;
}

/* The ids first: nothing refers to them before the rest is there. */
static int write_file(const struct al_index_cache *cache, int dir_fd, bool sha256)
{
    al_auto(al_closep) int fd =
        openat(dir_fd, NAME, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    al_auto(al_str_clear) struct al_str front = AL_STR_INIT;
    struct head head = make_head(cache, sha256);
    bool anew = !cache->room;
    int r;

    if (anew) {
        head.room = (2 * front_bytes(&head) + ROOM_STEP) & ~(uint64_t)(ROOM_STEP - 1);
        head.oids_at = 0;
    }
    if (fd < 0)
        return -errno;
    if (front_bytes(&head) > head.room || head.room > ROOM_MAX)
        return -EFBIG;
    r = anew && ftruncate(fd, 0) < 0 ? -errno : 0;
    if (r == 0)
        r = write_at(fd, &cache->oids, head.room + head.oids_at);
    head.oids_at += cache->oids.len;
    make_front(cache, &head, &front);
    return r == 0 ? write_at(fd, &front, 0) : r;
}

int al_index_cache_save(const struct al_index_cache *cache, int dir_fd, bool sha256)
{
    int r = write_file(cache, dir_fd, sha256);

    if (r < 0)
        (void)unlinkat(dir_fd, NAME, 0);
    return r;
}
