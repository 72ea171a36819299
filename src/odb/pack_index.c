// SPDX-License-Identifier: Apache-2.0
#include "odb/pack_index.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

#define FANOUT_AT    8u
#define NAMES_AT     (FANOUT_AT + 256u * 4u)
#define CRC_BYTES    4u
#define OFFSET_BYTES 4u

/* A version 2 index file, mapped or copied.  Only airlock writes to the store, so the file is never
 * shortened. */
struct index {
    const uint8_t *map;
    size_t len;
    bool is_copy;
};

struct al_packs {
    bool sha256;
    bool skips_kept;
    struct index *items;
    size_t count;
};

static uint32_t be32_at(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return be32toh(value);
}

static uint32_t fanout(const struct index *index, unsigned first)
{
    return be32_at(index->map + FANOUT_AT + 4u * first);
}

static bool is_well_formed(const struct index *index, size_t oid_bytes)
{
    uint64_t count;

    if (index->len < NAMES_AT || be32_at(index->map) != 0xff744f63 || be32_at(index->map + 4) != 2)
        return false;
    count = fanout(index, 255);
    for (unsigned first = 1; first < 256; first++)
        if (fanout(index, first) < fanout(index, first - 1))
            return false;
    return NAMES_AT + count * (oid_bytes + CRC_BYTES + OFFSET_BYTES) + 2 * oid_bytes <= index->len;
}

static bool has_pack(int dir_fd, const char *name)
{
    al_auto(al_freep) char *pack = al_asprintf("%.*spack", (int)(strlen(name) - 3), name);
    struct stat st;

    return fstatat(dir_fd, pack, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void append(struct al_packs *packs, const struct index *index)
{
    packs->items = al_reallocarray(packs->items, packs->count + 1, sizeof(*packs->items));
    packs->items[packs->count++] = *index;
}

static void add_index(struct al_packs *packs, int dir_fd, const char *name)
{
    al_auto(al_closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct index index;
    struct stat st;
    void *map;

    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || !has_pack(dir_fd, name))
        return;
    index = (struct index){ .len = (size_t)st.st_size };
    map = mmap(NULL, index.len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return; /* the objects in it are written again */
    index.map = map;
    if (!is_well_formed(&index, al_oid_bytes(packs->sha256))) {
        (void)munmap(map, index.len);
        return;
    }
    append(packs, &index);
}

struct al_packs *al_packs_new(bool sha256)
{
    struct al_packs *packs = al_calloc(1, sizeof(*packs));

    packs->sha256 = sha256;
    return packs;
}

void al_packs_add_index(struct al_packs *packs, const void *index, size_t len)
{
    struct index copy = { .map = index, .len = len, .is_copy = true };
    uint8_t *bytes;

    if (!is_well_formed(&copy, al_oid_bytes(packs->sha256)))
        return;
    bytes = al_malloc(len);
    memcpy(bytes, index, len);
    copy.map = bytes;
    append(packs, &copy);
}

int al_packs_open(int dir_fd, bool sha256, struct al_packs **ret_packs, struct al_error *err)
{
    struct al_packs *packs = al_packs_new(sha256);
    int r;

    r = al_packs_add(packs, dir_fd, err);
    if (r < 0)
        al_packs_free(packs);
    else
        *ret_packs = packs;
    return r;
}

int al_packs_open_unkept(int dir_fd, bool sha256, struct al_packs **ret_packs, struct al_error *err)
{
    struct al_packs *packs = al_packs_new(sha256);
    int r;

    packs->skips_kept = true;
    r = al_packs_add(packs, dir_fd, err);
    if (r < 0)
        al_packs_free(packs);
    else
        *ret_packs = packs;
    return r;
}

/* Whether a list has the .keep file of an index. */
static bool is_kept(const struct al_strv *kept, const char *index)
{
    al_auto(al_freep) char *keep = al_asprintf("%.*skeep", (int)(strlen(index) - 3), index);

    return al_strv_contains_sorted(kept, keep);
}

int al_packs_add(struct al_packs *packs, int dir_fd, struct al_error *err)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    al_auto(al_strv_clear) struct al_strv indexes = AL_STRV_INIT, kept = AL_STRV_INIT;
    struct dirent *entry;

    if (!dir)
        return al_error_errno(err, errno, "cannot read the checkpoint store");
    while ((entry = readdir(dir))) {
        if (al_starts_with(entry->d_name, "pack-") && al_ends_with(entry->d_name, ".idx"))
            al_strv_add(&indexes, entry->d_name);
        else if (packs->skips_kept && al_ends_with(entry->d_name, ".keep"))
            al_strv_add(&kept, entry->d_name);
    }
    al_strv_sort(&kept);
    for (size_t i = 0; i < indexes.count; i++)
        if (!kept.count || !is_kept(&kept, indexes.items[i]))
            add_index(packs, dir_fd, indexes.items[i]);
    return 0;
}

void al_packs_free(struct al_packs *packs)
{
    if (!packs)
        return;
    for (size_t i = 0; i < packs->count; i++) {
        void *bytes = (void *)(uintptr_t)packs->items[i].map;

        if (packs->items[i].is_copy)
            free(bytes);
        else
            (void)munmap(bytes, packs->items[i].len);
    }
    free(packs->items);
    free(packs);
}

static bool index_has(const struct index *index, size_t oid_bytes, const struct al_oid *oid)
{
    unsigned first = oid->bytes[0];
    size_t low = first ? fanout(index, first - 1) : 0, high = fanout(index, first);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(index->map + NAMES_AT + middle * oid_bytes, oid->bytes, oid_bytes);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool al_packs_have(const struct al_packs *packs, const struct al_oid *oid)
{
    for (size_t i = 0; i < packs->count; i++)
        if (index_has(&packs->items[i], al_oid_bytes(packs->sha256), oid))
            return true;
    return false;
}

int al_packs_measure(int dir_fd, struct al_packs_size *ret_size, struct al_error *err)
{
    struct al_packs_size size = { .bytes = 0 };
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    struct dirent *entry;
    struct stat st;

    if (!dir)
        return al_error_errno(err, errno, "cannot read the checkpoint store");
    while ((entry = readdir(dir))) {
        if (fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
            continue;
        size.bytes += (uint64_t)st.st_size;
        size.unkept += al_ends_with(entry->d_name, ".pack");
        size.kept += al_ends_with(entry->d_name, ".keep");
    }
    size.unkept -= size.kept < size.unkept ? size.kept : size.unkept;
    *ret_size = size;
    return 0;
}
