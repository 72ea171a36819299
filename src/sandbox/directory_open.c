// SPDX-License-Identifier: Apache-2.0
/* Opening the directory of a sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/root.h"
#include "guard/text.h"
#include "sandbox/directory.h"

static int refuse(struct al_error *err, const char *path, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    return al_error_set(err, AL_ERR_BAD_ARGS, "staging.path: '%s' %s", safe, why);
}

/* Whether an agent may have made the entries of a directory. */
static bool is_in_root(int fd, const struct al_roots *roots)
{
    al_auto(al_freep) char *path = al_fs_fd_path(fd);

    return roots && path && al_roots_find(roots, path);
}

/* Enter a directory, and create it if it is missing.  A descriptor or -errno; -EPERM in a git
 * directory. */
static int enter(int fd, const char *name, const struct al_roots *roots)
{
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    bool follows = !is_in_root(fd, roots);
    int next = follows ? openat(fd, name, flags) : al_nofollow_open(fd, name, flags);

    if (follows && next < 0)
        next = -errno;
    if (next != -ENOENT)
        return next;
    if (al_gitdir_contains(fd, name))
        return -EPERM;
    if (mkdirat(fd, name, 0777) < 0 && errno != EEXIST)
        return -errno;
    return al_nofollow_open(fd, name, flags);
}

int al_directory_open(const char *path, const struct al_roots *roots, int *ret_fd, char **ret_dir,
                      struct al_error *err)
{
    al_auto(al_freep) char *parts = al_strdup(path);
    al_auto(al_closep) int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_freep) char *dir = NULL;
    char *save = NULL;

    for (char *part = strtok_r(parts, "/", &save); part && fd >= 0;
         part = strtok_r(NULL, "/", &save)) {
        int next = enter(fd, part, roots);

        al_close(fd);
        fd = next;
    }
    if (fd == -ELOOP || (fd == -EXDEV && roots))
        return refuse(err, path, "has a '..' or a symbolic link inside a root; name it without");
    if (fd < 0 && fd != -EPERM)
        return refuse(err, path, strerrordesc_np(-fd));
    if (fd == -EPERM || al_gitdir_contains(fd, NULL))
        return refuse(err, path, "is inside a git directory; name another directory");
    dir = al_fs_fd_path(fd);
    if (!dir)
        return refuse(err, path, "has no path; name an existing directory");
    *ret_dir = al_take(&dir);
    *ret_fd = al_take_fd(&fd);
    return 0;
}
