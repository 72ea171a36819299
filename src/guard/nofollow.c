// SPDX-License-Identifier: Apache-2.0
#include "guard/nofollow.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/beneath.h"
#include "util/mem.h"

int al_nofollow_open(int dir_fd, const char *path, int flags)
{
    int extra = flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK;

    return al_beneath_open(dir_fd, *path ? path : ".", flags | extra,
                           RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Open the directory `name` in `dir_fd`; create it first if it is missing and `make` is set. */
static int enter(int dir_fd, const char *name, bool make)
{
    int fd = al_nofollow_open(dir_fd, name, O_PATH | O_DIRECTORY);

    if (fd != -ENOENT || !make)
        return fd;
    if (mkdirat(dir_fd, name, 0777) < 0 && errno != EEXIST)
        return -errno;
    return al_nofollow_open(dir_fd, name, O_PATH | O_DIRECTORY);
}

static bool is_name(const char *name)
{
    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int al_nofollow_open_parent(int dir_fd, const char *path, bool make, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    al_auto(al_freep) char *parents = al_strndup(path, slash ? (size_t)(slash - path) : 0);
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, "", O_PATH | O_DIRECTORY);
    char *save = NULL;

    if (!is_name(name))
        return -EINVAL;
    if (*path == '/')
        return -EXDEV;
    for (char *part = strtok_r(parents, "/", &save); part && fd >= 0;
         part = strtok_r(NULL, "/", &save)) {
        int next = strcmp(part, "..") != 0 ? enter(fd, part, make) : -EXDEV;

        al_close(fd);
        fd = next;
    }
    *ret_name = name;
    return al_take_fd(&fd);
}

void al_nofollow_remove_parents(int dir_fd, const char *path)
{
    al_auto(al_freep) char *at = al_strdup(path);
    char *slash;

    while ((slash = strrchr(at, '/'))) {
        const char *name;
        int fd, r;

        *slash = '\0';
        fd = al_nofollow_open_parent(dir_fd, at, false, &name);
        r = fd < 0 ? fd : unlinkat(fd, name, AT_REMOVEDIR);
        al_close(fd);
        if (r < 0)
            return;
    }
}
