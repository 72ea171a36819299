// SPDX-License-Identifier: Apache-2.0
/* The directory of one path after the other, open: paths in order come from few directories. */
#ifndef AL_CHECKPOINT_DIR_CACHE_H
#define AL_CHECKPOINT_DIR_CACHE_H

#include <stddef.h>

/** Set up with AL_DIR_CACHE_INIT. */
struct al_dir_cache {
    int top_fd; /* borrowed */
    char *dir;  /* the directory that is open, with '/' behind it; NULL before the first */
    size_t len;
    int fd; /* -1 when it is no directory, or behind a link */
};

#define AL_DIR_CACHE_INIT(top) ((struct al_dir_cache){ .top_fd = (top), .fd = -1 })

/** Open the directory of a path below the top, unless it is open.  Gives the last component. */
const char *al_dir_cache_enter(struct al_dir_cache *dirs, const char *path);
void al_dir_cache_clear(struct al_dir_cache *dirs);

#endif
