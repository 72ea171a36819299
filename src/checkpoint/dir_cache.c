// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/dir_cache.h"

#include <fcntl.h>
#include <stdlib.h>

#include "guard/nofollow.h"
#include "util/mem.h"

void al_dir_cache_clear(struct al_dir_cache *dirs)
{
    if (dirs->len)
        al_close(dirs->fd);
    free(dirs->dir);
    dirs->dir = NULL;
    dirs->len = 0;
    dirs->fd = -1;
}

const char *al_dir_cache_enter(struct al_dir_cache *dirs, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;

    if (dirs->dir && len == dirs->len && !memcmp(dirs->dir, path, len))
        return path + len;
    al_dir_cache_clear(dirs);
    dirs->dir = al_strndup(path, len);
    dirs->len = len;
    dirs->fd = dirs->top_fd;
    if (len) {
        dirs->dir[len - 1] = '\0';
        dirs->fd = al_nofollow_open(dirs->top_fd, dirs->dir, O_PATH | O_DIRECTORY);
        dirs->dir[len - 1] = '/';
    }
    return path + len;
}
