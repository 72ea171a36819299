// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_atomic_file.h"

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

static int failed(const struct al_atomic_dir *dir, const char *path, int r, const char *what,
                  struct al_error *err)
{
    return al_error_errno(err, -r, "cannot %s '%s/%s'", what, dir->path, path);
}

int al_atomic_file_open_parent(const struct al_atomic_dir *dir, const char *path,
                               const char **ret_name)
{
    return al_atomic_file_is_plain(path) ? al_nofollow_open_parent(dir->fd, path, false, ret_name)
                                         : -EINVAL;
}

int al_atomic_file_begin(struct al_atomic_file *file, const struct al_atomic_dir *dir,
                         const char *path, unsigned mode, struct al_error *err)
{
    int r;

    *file = AL_ATOMIC_FILE_INIT;
    file->dir = dir;
    file->path = path;
    file->mode = mode;
    r = al_atomic_file_is_plain(path) ? al_nofollow_open_parent(dir->fd, path, true, &file->name)
                                      : -EINVAL;
    if (r < 0)
        return failed(dir, path, r, "write", err);
    file->parent_fd = r;
    if (S_ISLNK(mode))
        return 0;
    file->fd = openat(file->parent_fd, dir->temp_name,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return file->fd < 0 ? failed(dir, path, -errno, "write", err) : 0;
}

int al_atomic_file_add(struct al_atomic_file *file, const void *data, size_t len,
                       struct al_error *err)
{
    int r = 0;

    if (file->fd >= 0)
        r = al_write_all(file->fd, data, len);
    else if (file->target.len + len > PATH_MAX)
        r = -ENAMETOOLONG;
    else
        al_str_add(&file->target, data, len);
    return r < 0 ? failed(file->dir, file->path, r, "write", err) : 0;
}

int al_atomic_file_commit(struct al_atomic_file *file, struct al_error *err)
{
    const struct al_atomic_dir *dir = file->dir;
    int r = 0;

    if (file->fd >= 0)
        r = fchmod(file->fd, file->mode & PERMISSIONS);
    else
        r = symlinkat(file->target.buf, file->parent_fd, dir->temp_name);
    if (r == 0)
        r = renameat(file->parent_fd, dir->temp_name, file->parent_fd, file->name);
    /* An empty directory makes way for the file. */
    if (r < 0 && errno == EISDIR && unlinkat(file->parent_fd, file->name, AT_REMOVEDIR) == 0)
        r = renameat(file->parent_fd, dir->temp_name, file->parent_fd, file->name);
    if (r < 0)
        return failed(dir, file->path, -errno, "write", err);
    al_close(file->parent_fd);
    file->parent_fd = -1;
    al_atomic_file_clear(file);
    return 0;
}

void al_atomic_file_clear(struct al_atomic_file *file)
{
    if (file->parent_fd >= 0)
        (void)unlinkat(file->parent_fd, file->dir->temp_name, 0);
    al_close(file->parent_fd);
    al_close(file->fd);
    al_str_clear(&file->target);
    *file = AL_ATOMIC_FILE_INIT;
}

int al_atomic_file_write(const struct al_atomic_dir *dir, const char *path, unsigned mode,
                         const void *data, size_t len, struct al_error *err)
{
    al_auto(al_atomic_file_clear) struct al_atomic_file file = AL_ATOMIC_FILE_INIT;
    int r = al_atomic_file_begin(&file, dir, path, mode, err);

    if (r == 0)
        r = al_atomic_file_add(&file, data, len, err);
    return r < 0 ? r : al_atomic_file_commit(&file, err);
}

int al_atomic_file_remove(const struct al_atomic_dir *dir, const char *path, struct al_error *err)
{
    const char *name;
    al_auto(al_closep) int parent_fd = al_atomic_file_open_parent(dir, path, &name);

    if (parent_fd == -ENOENT || parent_fd == -ENOTDIR)
        return 0;
    if (parent_fd < 0)
        return failed(dir, path, parent_fd, "remove", err);
    if (unlinkat(parent_fd, name, 0) < 0 && errno != ENOENT)
        return failed(dir, path, -errno, "remove", err);
    al_nofollow_remove_parents(dir->fd, path);
    return 0;
}

void al_atomic_file_clean(const struct al_atomic_dir *dir, const char *path, const char *temp)
{
    const char *name;
    al_auto(al_closep) int parent_fd = al_atomic_file_open_parent(dir, path, &name);

    if (parent_fd >= 0)
        (void)unlinkat(parent_fd, temp, 0);
}
