// SPDX-License-Identifier: Apache-2.0
/* Keeps the directory of the last path open.  Paths in order share few directories: if each opened
 * its own, git_add would take twice as long on 20,000 files. */
#ifndef AL_CHECKPOINT_DIR_CACHE_H
#define AL_CHECKPOINT_DIR_CACHE_H

#include <stddef.h>

/** Set up with AL_DIR_CACHE_INIT. */
struct al_dir_cache {
    int top_fd; /* borrowed */
    /* The path of the open directory with a final '/'; NULL before the first. */
    char *dir;
    size_t len;
    int fd; /* -1 when there is no such directory, or a link leads to it */
};

#define AL_DIR_CACHE_INIT(top) ((struct al_dir_cache){ .top_fd = (top), .fd = -1 })

/** Open the directory of a path below the top unless it is open.  Returns the path's last
 * component. */
const char *al_dir_cache_enter(struct al_dir_cache *dirs, const char *path);
void al_dir_cache_clear(struct al_dir_cache *dirs);

#endif
