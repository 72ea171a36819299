// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/prefetch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "checkpoint/dir_cache.h"

#define FILES_MIN 1000 /* fewer are looked at before a thread has started */

struct al_prefetch {
    struct al_stat_cache seen; /* a place in it of its own; the bytes are borrowed */
    int top_fd;
    bool *current;
    pthread_t thread;
    bool is_running;
};

static void *look(void *payload)
{
    struct al_prefetch *ahead = payload;
    al_auto(al_dir_cache_clear) struct al_dir_cache dirs = AL_DIR_CACHE_INIT(ahead->top_fd);
    struct al_stat_cache_file file;
    const char *path;

    for (size_t i = 0; (path = al_stat_cache_next(&ahead->seen, &file)); i++) {
        const char *name = al_dir_cache_enter(&dirs, path);
        struct stat st;

        ahead->current[i] = dirs.fd >= 0 && fstatat(dirs.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                            al_stat_cache_is_current(&file, &st);
    }
    return NULL;
}

struct al_prefetch *al_prefetch_begin(const struct al_stat_cache *seen, int top_fd)
{
    struct al_prefetch *ahead;

    if (seen->nfiles < FILES_MIN)
        return NULL;
    ahead = al_calloc(1, sizeof(*ahead));
    ahead->seen = *seen;
    ahead->top_fd = top_fd;
    ahead->current = al_calloc(seen->nfiles, sizeof(*ahead->current));
    /* It may hold the filter of the thread that makes it: it looks at files and starts nobody. */
    ahead->is_running = pthread_create(&ahead->thread, NULL, look, ahead) == 0;
    return ahead; /* without a thread, nothing looks the same and everything is looked at later */
}

void al_prefetch_wait(struct al_prefetch *ahead)
{
    if (!ahead || !ahead->is_running)
        return;
    (void)pthread_join(ahead->thread, NULL);
    ahead->is_running = false;
}

bool al_prefetch_is_current(const struct al_prefetch *ahead, size_t i)
{
    return ahead->current[i];
}

void al_prefetch_free(struct al_prefetch *ahead)
{
    if (!ahead)
        return;
    al_prefetch_wait(ahead);
    free(ahead->current);
    free(ahead);
}
