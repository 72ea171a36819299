// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/prefetch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "checkpoint/dir_cache.h"

#define FILES_MIN 1000 /* fewer are looked at before a thread has started */

struct al_ahead {
    struct al_seen seen; /* a place in it of its own; the bytes are borrowed */
    int top_fd;
    bool *current;
    pthread_t thread;
    bool is_running;
};

static void *look(void *payload)
{
    struct al_ahead *ahead = payload;
    al_auto(al_dirs_clear) struct al_dirs dirs = AL_DIRS_INIT(ahead->top_fd);
    struct al_seen_file file;
    const char *path;

    for (size_t i = 0; (path = al_seen_next(&ahead->seen, &file)); i++) {
        const char *name = al_dirs_enter(&dirs, path);
        struct stat st;

        ahead->current[i] = dirs.fd >= 0 && fstatat(dirs.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                            al_seen_is_current(&file, &st);
    }
    return NULL;
}

struct al_ahead *al_ahead_begin(const struct al_seen *seen, int top_fd)
{
    struct al_ahead *ahead;

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

void al_ahead_wait(struct al_ahead *ahead)
{
    if (!ahead || !ahead->is_running)
        return;
    (void)pthread_join(ahead->thread, NULL);
    ahead->is_running = false;
}

bool al_ahead_is_current(const struct al_ahead *ahead, size_t i)
{
    return ahead->current[i];
}

void al_ahead_free(struct al_ahead *ahead)
{
    if (!ahead)
        return;
    al_ahead_wait(ahead);
    free(ahead->current);
    free(ahead);
}
