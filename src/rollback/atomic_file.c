// SPDX-License-Identifier: Apache-2.0
#include "rollback/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/nofollow.h"
#include "util/fs.h"

#define PERMISSIONS 0777u

bool al_atomic_file_is_plain(const char *path)
{
    for (const char *at = path;; at++) {
        size_t len = strcspn(at, "/");

        if (len == 0 || (len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += len;
        if (!*at)
            return true;
    }
}

static int failed(const struct al_atomic_dir *place, const char *path, int r, const char *what,
                  struct al_error *err)
{
    return al_error_errno(err, -r, "cannot %s '%s/%s'", what, place->dir, path);
}

int al_atomic_file_open_parent(const struct al_atomic_dir *place, const char *path,
                               const char **ret_name)
{
    return al_atomic_file_is_plain(path) ? al_nofollow_open_parent(place->fd, path, false, ret_name)
                                         : -EINVAL;
}

int al_atomic_file_begin(struct al_atomic_file *placing, const struct al_atomic_dir *place,
                         const char *path, unsigned mode, struct al_error *err)
{
    int r;

    *placing = AL_ATOMIC_FILE_INIT;
    placing->place = place;
    placing->path = path;
    placing->mode = mode;
    r = al_atomic_file_is_plain(path)
            ? al_nofollow_open_parent(place->fd, path, true, &placing->name)
            : -EINVAL;
    if (r < 0)
        return failed(place, path, r, "write", err);
    placing->parent_fd = r;
    if (S_ISLNK(mode))
        return 0;
    placing->fd = openat(placing->parent_fd, place->temp,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return placing->fd < 0 ? failed(place, path, -errno, "write", err) : 0;
}

int al_atomic_file_add(struct al_atomic_file *placing, const void *data, size_t len,
                       struct al_error *err)
{
    int r = 0;

    if (placing->fd >= 0)
        r = al_write_all(placing->fd, data, len);
    else if (placing->target.len + len > PATH_MAX)
        r = -ENAMETOOLONG;
    else
        al_str_add(&placing->target, data, len);
    return r < 0 ? failed(placing->place, placing->path, r, "write", err) : 0;
}

int al_atomic_file_commit(struct al_atomic_file *placing, struct al_error *err)
{
    const struct al_atomic_dir *place = placing->place;
    int r = 0;

    if (placing->fd >= 0)
        r = fchmod(placing->fd, placing->mode & PERMISSIONS);
    else
        r = symlinkat(placing->target.buf, placing->parent_fd, place->temp);
    if (r == 0)
        r = renameat(placing->parent_fd, place->temp, placing->parent_fd, placing->name);
    if (r < 0 && errno == EISDIR && /* an empty one only makes way */
        unlinkat(placing->parent_fd, placing->name, AT_REMOVEDIR) == 0)
        r = renameat(placing->parent_fd, place->temp, placing->parent_fd, placing->name);
    if (r < 0)
        return failed(place, placing->path, -errno, "write", err);
    al_close(placing->parent_fd);
    placing->parent_fd = -1;
    al_atomic_file_clear(placing);
    return 0;
}

void al_atomic_file_clear(struct al_atomic_file *placing)
{
    if (placing->parent_fd >= 0)
        (void)unlinkat(placing->parent_fd, placing->place->temp, 0);
    al_close(placing->parent_fd);
    al_close(placing->fd);
    al_str_clear(&placing->target);
    *placing = AL_ATOMIC_FILE_INIT;
}

int al_atomic_file_write(const struct al_atomic_dir *place, const char *path, unsigned mode,
                         const void *data, size_t len, struct al_error *err)
{
    al_auto(al_atomic_file_clear) struct al_atomic_file placing = AL_ATOMIC_FILE_INIT;
    int r = al_atomic_file_begin(&placing, place, path, mode, err);

    if (r == 0)
        r = al_atomic_file_add(&placing, data, len, err);
    return r < 0 ? r : al_atomic_file_commit(&placing, err);
}

int al_atomic_file_remove(const struct al_atomic_dir *place, const char *path, struct al_error *err)
{
    const char *name;
    al_auto(al_closep) int parent_fd = al_atomic_file_open_parent(place, path, &name);

    if (parent_fd == -ENOENT || parent_fd == -ENOTDIR)
        return 0;
    if (parent_fd < 0)
        return failed(place, path, parent_fd, "remove", err);
    if (unlinkat(parent_fd, name, 0) < 0 && errno != ENOENT)
        return failed(place, path, -errno, "remove", err);
    al_nofollow_remove_parents(place->fd, path);
    return 0;
}

void al_atomic_file_clean(const struct al_atomic_dir *place, const char *path, const char *temp)
{
    const char *name;
    al_auto(al_closep) int parent_fd = al_atomic_file_open_parent(place, path, &name);

    if (parent_fd >= 0)
        (void)unlinkat(parent_fd, temp, 0);
}
