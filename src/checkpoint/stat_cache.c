// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/stat_cache.h"

#include <time.h>

#define NAME      "stat"
#define MAX_BYTES (1u << 30)

/* File times advance in ticks: of a jiffy at worst, or of two seconds on a file system without
 * fractions (FAT). */
#define TICK_NS        20000000
#define COARSE_TICK_NS 2000000000

/* The beginning of the file.  It has the sizes of the structures, so that a cache of another build
 * is not used. */
struct preamble {
    char magic[8];
    uint32_t head_bytes, file_bytes;
    uint32_t sha256, sum; /* the sum is that of everything after the preamble */
    uint64_t nknown, nfiles, total_bytes;
};

static const char magic[8] = "AIRSTAT";

void al_stat_cache_clear(struct al_stat_cache *cache)
{
    al_str_clear(&cache->data);
    *cache = AL_STAT_CACHE_INIT;
}

uint32_t al_stat_cache_sum(const char *data, size_t len)
{
    uint64_t sum = len, word = 0;

    for (; len >= sizeof(word); data += sizeof(word), len -= sizeof(word)) {
        memcpy(&word, data, sizeof(word));
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    }
    word = 0;
    memcpy(&word, data, len);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(sum >> 32);
}

static size_t files_at(const struct al_stat_cache *cache)
{
    return sizeof(struct preamble) + sizeof(struct al_stat_cache_head) +
           cache->nknown * sizeof(struct al_oid);
}

static bool parse_preamble(struct al_stat_cache *cache, bool sha256)
{
    struct preamble preamble;

    if (cache->data.len < sizeof(preamble) + sizeof(cache->head))
        return false;
    memcpy(&preamble, cache->data.buf, sizeof(preamble));
    if (memcmp(preamble.magic, magic, sizeof(magic)) != 0 ||
        preamble.head_bytes != sizeof(struct al_stat_cache_head) ||
        preamble.file_bytes != sizeof(struct al_stat_cache_file) || preamble.sha256 != sha256 ||
        preamble.total_bytes != cache->data.len ||
        preamble.nknown > cache->data.len / sizeof(struct al_oid))
        return false;
    memcpy(&cache->head, cache->data.buf + sizeof(preamble), sizeof(cache->head));
    cache->nknown = (size_t)preamble.nknown;
    cache->nfiles = (size_t)preamble.nfiles;
    return files_at(cache) <= cache->data.len &&
           memchr(cache->head.reference, '\0', sizeof(cache->head.reference));
}

void al_stat_cache_load(struct al_stat_cache *cache, int dir_fd, bool sha256)
{
    *cache = AL_STAT_CACHE_INIT;
    if (al_fs_read(dir_fd, NAME, MAX_BYTES, &cache->data) < 0 || !parse_preamble(cache, sha256)) {
        al_stat_cache_clear(cache);
        return;
    }
    cache->next = files_at(cache);
    cache->left = cache->nfiles;
}

bool al_stat_cache_is_whole(int dir_fd, bool sha256)
{
    al_auto(al_stat_cache_clear) struct al_stat_cache cache = AL_STAT_CACHE_INIT;
    struct preamble preamble;

    al_stat_cache_load(&cache, dir_fd, sha256);
    if (cache.data.len < sizeof(preamble))
        return false;
    memcpy(&preamble, cache.data.buf, sizeof(preamble));
    return preamble.sum ==
           al_stat_cache_sum(cache.data.buf + sizeof(preamble), cache.data.len - sizeof(preamble));
}

void al_stat_cache_known(const struct al_stat_cache *cache, size_t i, struct al_oid *ret_oid)
{
    memcpy(ret_oid,
           cache->data.buf + sizeof(struct preamble) + sizeof(struct al_stat_cache_head) +
               i * sizeof(*ret_oid),
           sizeof(*ret_oid));
}

/* The path of the next file, without moving on; NULL at the end. */
static const char *peek(struct al_stat_cache *cache)
{
    if (cache->left && cache->data.len - cache->next > sizeof(struct al_stat_cache_file))
        return cache->data.buf + cache->next + sizeof(struct al_stat_cache_file);
    cache->left = 0; /* the file may be shorter than its preamble says */
    return NULL;
}

const char *al_stat_cache_next(struct al_stat_cache *cache, struct al_stat_cache_file *ret_file)
{
    const char *path = peek(cache);

    if (!path)
        return NULL;
    memcpy(ret_file, cache->data.buf + cache->next, sizeof(*ret_file));
    /* The buffer ends with a NUL, whatever the file has. */
    cache->next += sizeof(*ret_file) + strlen(path) + 1;
    if (cache->next > cache->data.len)
        cache->next = cache->data.len;
    cache->left--;
    return path;
}

bool al_stat_cache_find(struct al_stat_cache *cache, const char *path,
                        struct al_stat_cache_file *ret_file, size_t *ret_number)
{
    const char *at;

    while ((at = peek(cache))) {
        int order = strcmp(at, path);

        if (order > 0)
            return false;
        *ret_number = cache->nfiles - cache->left;
        (void)al_stat_cache_next(cache, ret_file);
        if (order == 0)
            return true;
    }
    return false;
}

bool al_stat_cache_is_current(const struct al_stat_cache_file *file, const struct stat *st)
{
    struct al_file_id now = al_file_id_from(st);

    return !file->racy && file->mode == st->st_mode && al_file_id_equal(&file->id, &now);
}

void al_stat_cache_fill(struct al_stat_cache_file *file, const struct stat *st, int64_t began_ns)
{
    bool coarse = st->st_mtim.tv_nsec == 0 && st->st_ctim.tv_nsec == 0;
    int64_t settled_ns = began_ns - (coarse ? COARSE_TICK_NS : TICK_NS);

    memset(&file->id, 0, sizeof(file->id)); /* padding is written to the disk too */
    file->id = al_file_id_from(st);
    file->mode = st->st_mode;
    file->racy = file->id.ctime_ns > settled_ns || file->id.mtime_ns > settled_ns;
}

int64_t al_stat_cache_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void al_stat_cache_writer_clear(struct al_stat_cache_writer *writer)
{
    al_str_clear(&writer->known);
    al_str_clear(&writer->files);
}

void al_stat_cache_write_known(struct al_stat_cache_writer *writer, const struct al_oid *oid)
{
    al_str_add(&writer->known, oid, sizeof(*oid));
    writer->nknown++;
}

void al_stat_cache_write_file(struct al_stat_cache_writer *writer, const char *path,
                              const struct al_stat_cache_file *file)
{
    al_str_add(&writer->files, file, sizeof(*file));
    al_str_add(&writer->files, path, strlen(path) + 1);
    writer->nfiles++;
}

int al_stat_cache_save(const struct al_stat_cache_writer *writer,
                       const struct al_stat_cache_head *head, int dir_fd, bool sha256)
{
    al_auto(al_str_clear) struct al_str data = AL_STR_INIT;
    struct preamble preamble = {
        .head_bytes = sizeof(*head),
        .file_bytes = sizeof(struct al_stat_cache_file),
        .sha256 = sha256,
        .nknown = writer->nknown,
        .nfiles = writer->nfiles,
        .total_bytes = sizeof(preamble) + sizeof(*head) + writer->known.len + writer->files.len,
    };

    memcpy(preamble.magic, magic, sizeof(magic));
    al_str_reserve(&data, (size_t)preamble.total_bytes);
    al_str_add(&data, &preamble, sizeof(preamble));
    al_str_add(&data, head, sizeof(*head));
    al_str_add(&data, writer->known.buf, writer->known.len);
    al_str_add(&data, writer->files.buf, writer->files.len);
    preamble.sum = al_stat_cache_sum(data.buf + sizeof(preamble), data.len - sizeof(preamble));
    memcpy(data.buf, &preamble, sizeof(preamble));
    return al_fs_write_atomic(dir_fd, NAME, data.buf, data.len, 0600, true);
}
