// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/prefetch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "checkpoint/dir_cache.h"

#define FILES_MIN 1000 /* fewer are done before a thread has started */

struct al_prefetch {
    /* A copy with a position of its own.  The bytes are borrowed. */
    struct al_stat_cache cache;
    int top_fd;
    bool *current;
    pthread_t thread;
    bool is_running;
};

static void *stat_files(void *payload)
{
    struct al_prefetch *prefetch = payload;
    al_auto(al_dir_cache_clear) struct al_dir_cache dirs = AL_DIR_CACHE_INIT(prefetch->top_fd);
    struct al_stat_cache_file file;
    const char *path;

    for (size_t i = 0; (path = al_stat_cache_next(&prefetch->cache, &file)); i++) {
        const char *name = al_dir_cache_enter(&dirs, path);
        struct stat st;

        prefetch->current[i] = dirs.fd >= 0 &&
                               fstatat(dirs.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                               al_stat_cache_is_current(&file, &st);
    }
    return NULL;
}

struct al_prefetch *al_prefetch_begin(const struct al_stat_cache *cache, int top_fd)
{
    struct al_prefetch *prefetch;

    if (cache->nfiles < FILES_MIN)
        return NULL;
    prefetch = al_calloc(1, sizeof(*prefetch));
    prefetch->cache = *cache;
    prefetch->top_fd = top_fd;
    prefetch->current = al_calloc(cache->nfiles, sizeof(*prefetch->current));
    /* The thread inherits its creator's seccomp filter, if any.  It only stats files and starts no
     * process. */
    prefetch->is_running = pthread_create(&prefetch->thread, NULL, stat_files, prefetch) == 0;
    return prefetch; /* without a thread no file is current, and each is looked at later */
}

void al_prefetch_wait(struct al_prefetch *prefetch)
{
    if (!prefetch || !prefetch->is_running)
        return;
    (void)pthread_join(prefetch->thread, NULL);
    prefetch->is_running = false;
}

bool al_prefetch_is_current(const struct al_prefetch *prefetch, size_t i)
{
    return prefetch->current[i];
}

void al_prefetch_free(struct al_prefetch *prefetch)
{
    if (!prefetch)
        return;
    al_prefetch_wait(prefetch);
    free(prefetch->current);
    free(prefetch);
}
