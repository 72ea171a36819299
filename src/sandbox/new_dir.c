// SPDX-License-Identifier: Apache-2.0
#include "sandbox/new_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "sandbox/directory.h"

#define PREFIX     ".airlock-dir-" /* al_fs_temp_owner() knows it */
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* With its '/'; 0: the file lies at the top. */
static size_t top_len(const char *path)
{
    const char *slash = strchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Caller frees. */
static char *name_of(const struct al_new_dir *dir)
{
    return al_strndup(dir->path, top_len(dir->path) - 1);
}

static bool is_free(int dir_fd, const char *name)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT &&
           !al_gitdir_contains(dir_fd, name);
}

bool al_new_dir_make(struct al_new_dir *dir, int dir_fd, const char *path)
{
    static atomic_uint serial;
    al_auto(al_freep) char *name = NULL;

    *dir = AL_NEW_DIR_INIT;
    if (!top_len(path))
        return false;
    dir->path = path;
    name = name_of(dir);
    (void)snprintf(dir->temp_name, sizeof(dir->temp_name), PREFIX "%ld-%u", (long)getpid(),
                   atomic_fetch_add(&serial, 1));
    if (!is_free(dir_fd, name) || mkdirat(dir_fd, dir->temp_name, 0777) < 0)
        return false;
    dir->fd = openat(dir_fd, dir->temp_name, OPEN_FLAGS);
    if (dir->fd < 0) {
        (void)unlinkat(dir_fd, dir->temp_name, AT_REMOVEDIR);
        return false;
    }
    (void)flock(dir->fd, LOCK_EX | LOCK_NB);
    return true;
}

bool al_new_dir_holds(const struct al_new_dir *dir, const char *path)
{
    return dir->fd >= 0 && !strncmp(dir->path, path, top_len(dir->path));
}

const char *al_new_dir_below(const char *path)
{
    return path + top_len(path);
}

/* Enter a directory, and create it if it is missing.  A descriptor, -errno, or -EPERM where it
 * would become a part of a git directory.  All that is here was made by an import, and the
 * directories above were looked at when the first one was. */
static int enter(int fd, const char *name)
{
    int next = al_nofollow_open(fd, name, O_PATH | O_DIRECTORY);

    if (next != -ENOENT)
        return next;
    if (al_gitdir_has_part(name) && al_gitdir_is(fd, name))
        return -EPERM;
    if (mkdirat(fd, name, 0777) < 0 && errno != EEXIST)
        return -errno;
    return al_nofollow_open(fd, name, O_PATH | O_DIRECTORY);
}

int al_new_dir_open_parent(const struct al_new_dir *dir, const char *path, int *ret_fd,
                           struct al_error *err)
{
    const char *below = al_new_dir_below(path), *slash = strrchr(below, '/');
    al_auto(al_freep) char *parents = al_strndup(below, slash ? (size_t)(slash - below) : 0);
    al_auto(al_closep) int at = al_nofollow_open(dir->fd, "", O_PATH | O_DIRECTORY);
    char *save = NULL;

    for (char *part = strtok_r(parents, "/", &save); part && at >= 0;
         part = strtok_r(NULL, "/", &save)) {
        int next = enter(at, part);

        al_close(at);
        at = next;
    }
    if (at == -EPERM || (at >= 0 && al_gitdir_is(at, slash ? slash + 1 : below)))
        return al_gitdir_refuse(path, err);
    if (at < 0)
        return al_directory_write_fail(-at, path, err);
    *ret_fd = al_take_fd(&at);
    return 0;
}

/* Move a file to its place.  Linking replaces nothing, on any file system. */
static int move(const struct al_new_dir *dir, int dir_fd, const char *path, struct al_error *err)
{
    const char *name;
    al_auto(al_closep) int from =
        al_nofollow_open_parent(dir->fd, al_new_dir_below(path), false, &name);
    al_auto(al_closep) int to = -1;
    struct stat st;
    int r;

    if (from < 0)
        return al_directory_write_fail(-from, path, err);
    r = al_directory_open_parent(dir_fd, path, &to, &name, &st, err);
    if (r < 0)
        return r;
    if (linkat(from, name, to, name, 0) < 0)
        return errno == EEXIST ? al_directory_is_made(path, err)
                               : al_directory_write_fail(errno, path, err);
    (void)unlinkat(from, name, 0);
    return 0;
}

/* 0 or -errno.  NFS and others cannot rename without replacing, and nobody misses an empty
 * directory. */
static int rename_to(const struct al_new_dir *dir, int dir_fd, const char *name)
{
    if (renameat2(dir_fd, dir->temp_name, dir_fd, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL)
        return -errno;
    return renameat(dir_fd, dir->temp_name, dir_fd, name) < 0 ? -errno : 0;
}

static bool is_in_the_way(int errno_value)
{
    return errno_value == EEXIST || errno_value == ENOTEMPTY || errno_value == ENOTDIR;
}

int al_new_dir_name(struct al_new_dir *dir, int dir_fd, const struct al_sandbox_file *files,
                    size_t count, struct al_error *err)
{
    al_auto(al_freep) char *name = name_of(dir);
    int r = rename_to(dir, dir_fd, name);

    if (r == 0) {
        al_closep(&dir->fd);
        return 0;
    }
    if (!is_in_the_way(-r))
        return al_directory_write_fail(-r, files->path, err);
    r = 0;
    for (size_t i = 0; i < count && r == 0; i++)
        r = move(dir, dir_fd, files[i].path, err);
    if (r == 0)
        al_new_dir_remove(dir, dir_fd);
    return r;
}

void al_new_dir_remove(struct al_new_dir *dir, int dir_fd)
{
    if (dir->fd >= 0)
        al_fs_remove_tree_at(dir_fd, dir->temp_name);
    al_closep(&dir->fd);
}

void al_new_dir_sweep(int dir_fd, const char *temp_name)
{
    al_auto(al_closep) int fd =
        al_starts_with(temp_name, PREFIX) ? openat(dir_fd, temp_name, OPEN_FLAGS) : -1;

    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
        al_fs_remove_tree_at(dir_fd, temp_name);
}
