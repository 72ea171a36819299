// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/staleness.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "gitops/plumbing/index_scan.h"

/* Only the first entries are read, and of them only some are compared with their files. */
#define READ_MAX   4096u
#define SAMPLE_MAX 32u

struct sample {
    const struct stat *index;
    int top_fd;
    uint32_t count;  /* entries of the index */
    uint32_t stride; /* one of so many entries is looked at */
    uint32_t read, seen, stale;
};

/* Whether git compares the content although the file is probably unchanged.  A file of another size
 * has changed: that is no matter of stat data. */
static bool is_stale(const struct sample *sample, const struct al_index_entry *entry,
                     const struct stat *st)
{
    if (entry->size != (uint32_t)st->st_size)
        return entry->size == 0; /* git's mark for "compare the content" */
    return entry->mtime_s != (uint32_t)st->st_mtim.tv_sec ||
           entry->ctime_s != (uint32_t)st->st_ctim.tv_sec || entry->ino != (uint32_t)st->st_ino ||
           st->st_mtim.tv_sec >= sample->index->st_mtim.tv_sec;
}

static bool look_at(void *payload, const struct al_index_entry *entry)
{
    struct sample *sample = payload;
    struct stat st;

    if (sample->read++ % sample->stride != 0)
        return sample->read < READ_MAX;
    if (entry->stage || entry->skip_worktree || entry->intent_to_add ||
        (entry->mode & 0170000u) == 0160000u)
        return sample->read < READ_MAX;
    if (fstatat(sample->top_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        sample->seen++;
        sample->stale += is_stale(sample, entry, &st);
    }
    return sample->read < READ_MAX;
}

static uint32_t count_of(int fd)
{
    unsigned char header[12];

    if (pread(fd, header, sizeof(header), 0) != sizeof(header))
        return 0;
    return (uint32_t)header[8] << 24 | (uint32_t)header[9] << 16 | (uint32_t)header[10] << 8 |
           header[11];
}

size_t al_index_stale_entries(int index_fd, const struct stat *index, int top_fd, bool sha256,
                              bool *ret_most)
{
    struct sample sample = { .index = index, .top_fd = top_fd, .count = count_of(index_fd) };
    uint32_t read = sample.count < READ_MAX ? sample.count : READ_MAX;

    *ret_most = false;
    sample.stride = read / SAMPLE_MAX + (read % SAMPLE_MAX != 0);
    if (!read ||
        al_index_read(index_fd, sha256 ? 32 : 20, look_at, &sample) == AL_INDEX_NOT_UNDERSTOOD ||
        !sample.seen)
        return 0;
    *ret_most = sample.stale * 2 > sample.seen;
    return (size_t)((uint64_t)sample.count * sample.stale / sample.seen);
}
