// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/index_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

#define NAME      "index"
#define MAX_BYTES (1 << 30)

/* The beginning of the file.  It has its own size, so that a cache of another build is not used. */
struct head {
    char magic[8];
    uint32_t head_bytes, sha256;
    uint64_t count;
    char reference[96];
    struct al_stat_cache_file index;
    struct al_oid end, entries, staged;
    uint32_t depth, has_marks;
};

static const char magic[8] = "AIRINDX";

void al_index_cache_clear(struct al_index_cache *cache)
{
    al_oids_clear(&cache->oids);
    *cache = AL_INDEX_CACHE_INIT;
}

static bool is_usable(const struct head *head, size_t bytes, bool sha256)
{
    return !memcmp(head->magic, magic, sizeof(magic)) && head->head_bytes == sizeof(*head) &&
           head->sha256 == sha256 &&
           head->count == (bytes - sizeof(*head)) / al_oid_bytes(sha256) &&
           (bytes - sizeof(*head)) % al_oid_bytes(sha256) == 0 &&
           memchr(head->reference, '\0', sizeof(head->reference));
}

static void add_oids(struct al_index_cache *cache, const struct al_str *data, size_t oid_bytes)
{
    struct al_oids *oids = &cache->oids;

    oids->count = oids->capacity = data->len / oid_bytes;
    oids->items = al_calloc(oids->count + 1, sizeof(*oids->items));
    for (size_t i = 0; i < oids->count; i++)
        memcpy(oids->items[i].bytes, data->buf + i * oid_bytes, oid_bytes);
}

/* Read everything after the beginning of the file. */
static bool read_rest(int fd, size_t bytes, struct al_str *ret_data)
{
    char piece[32768];
    ssize_t n;

    al_str_reserve(ret_data, bytes);
    while ((n = read(fd, piece, sizeof(piece))) > 0)
        al_str_add(ret_data, piece, (size_t)n);
    return n == 0 && ret_data->len == bytes;
}

void al_index_cache_load(struct al_index_cache *cache, int dir_fd, bool sha256, bool objects)
{
    al_auto(al_closep) int fd = openat(dir_fd, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    al_auto(al_str_clear) struct al_str data = AL_STR_INIT;
    struct head head;
    struct stat st;

    *cache = AL_INDEX_CACHE_INIT;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > MAX_BYTES ||
        read(fd, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
        !is_usable(&head, (size_t)st.st_size, sha256) ||
        (objects && !read_rest(fd, (size_t)st.st_size - sizeof(head), &data)))
        return;
    memcpy(cache->reference, head.reference, sizeof(cache->reference));
    cache->index = head.index;
    cache->end = head.end;
    cache->entries = head.entries;
    cache->staged = head.staged;
    cache->depth = head.depth;
    cache->has_marks = head.has_marks;
    if (objects)
        add_oids(cache, &data, al_oid_bytes(sha256));
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

int al_index_cache_save(const struct al_index_cache *cache, int dir_fd, bool sha256)
{
    al_auto(al_str_clear) struct al_str data = AL_STR_INIT;
    struct head head;

    memset(&head, 0, sizeof(head)); /* padding is written to the disk too */
    memcpy(head.magic, magic, sizeof(magic));
    head.head_bytes = sizeof(head);
    head.sha256 = sha256;
    head.count = cache->oids.count;
    memcpy(head.reference, cache->reference, sizeof(head.reference));
    head.index = cache->index;
    head.end = cache->end;
    head.entries = cache->entries;
    head.staged = cache->staged;
    head.depth = cache->depth;
    head.has_marks = cache->has_marks;
    al_str_reserve(&data, sizeof(head) + cache->oids.count * al_oid_bytes(sha256));
    al_str_add(&data, &head, sizeof(head));
    for (size_t i = 0; i < cache->oids.count; i++)
        al_str_add(&data, cache->oids.items[i].bytes, al_oid_bytes(sha256));
    return al_fs_write_atomic(dir_fd, NAME, data.buf, data.len, 0600, true);
}
