// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/unused_indexes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "gitops/index/index_store.h"
#include "util/fs.h"
#include "util/mem.h"

/* More names than this are not looked at in one go. */
#define LOOKED_AT_MAX  1024u

#define PATH_MAX_BYTES 4096u

struct store {
    char *path;
    int64_t used_s, bytes;
};

static int64_t bytes_of(const char *dir, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name);
    struct stat st;

    return lstat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* Whether the working tree of a store is gone.  A store without a record has none. */
static bool has_no_tree(const char *dir)
{
    al_auto(al_freep) char *path = al_fs_join(dir, "record");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct stat st;

    if (al_fs_read(AT_FDCWD, path, sizeof(struct al_index_record) + PATH_MAX_BYTES, &text) < 0 ||
        text.len <= sizeof(struct al_index_record))
        return true;
    return lstat(text.buf + sizeof(struct al_index_record), &st) < 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

/* A process that has the store open holds a shared lock on it. */
static void remove_store(const char *path)
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        al_fs_remove_tree(path);
}

static int by_use(const void *a, const void *b)
{
    const struct store *x = a, *y = b;

    return (x->used_s < y->used_s) - (x->used_s > y->used_s);
}

static size_t list(const char *dir, struct store stores[LOOKED_AT_MAX])
{
    al_auto(al_closedirp) DIR *open_dir = opendir(dir);
    struct dirent *entry;
    size_t n = 0;

    while (open_dir && n < LOOKED_AT_MAX && (entry = readdir(open_dir))) {
        al_auto(al_freep) char *path = al_fs_join(dir, entry->d_name);
        al_auto(al_freep) char *lock = al_fs_join(path, "lock");
        struct stat st;

        if (entry->d_name[0] == '.')
            continue;
        stores[n].used_s = lstat(lock, &st) == 0 ? (int64_t)st.st_mtim.tv_sec : 0;
        stores[n].bytes = bytes_of(path, "ready/index");
        stores[n++].path = al_take(&path);
    }
    return n;
}

void al_indexes_remove_unused(const char *dir)
{
    al_auto(al_freep) struct store *stores = al_calloc(LOOKED_AT_MAX, sizeof(*stores));
    const size_t n = list(dir, stores);
    const int64_t now = (int64_t)time(NULL);
    int64_t bytes = 0;
    size_t kept = 0;

    qsort(stores, n, sizeof(*stores), by_use);
    for (size_t i = 0; i < n; i++) {
        const struct store *store = &stores[i];

        if (now - store->used_s > AL_INDEXES_MAX_AGE_S || kept >= AL_INDEXES_MAX ||
            bytes + store->bytes > AL_INDEXES_MAX_BYTES || has_no_tree(store->path)) {
            remove_store(store->path);
        } else {
            kept++;
            bytes += store->bytes;
        }
        free(store->path);
    }
}
