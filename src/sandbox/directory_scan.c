// SPDX-License-Identifier: Apache-2.0
/* Finding the files of a directory. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "sandbox/directory.h"

/* A temporary file stays while its process lives, which may be one of another process namespace. */
#define TEMP_OLD_S 60

/** A scan that runs. */
struct walk {
    int fd;
    struct al_strv dirs; /* to be read; grows at the end */
    struct al_scan found;
};

void al_scan_clear(struct al_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        free(scan->items[i].path);
    free(scan->items);
    *scan = (struct al_scan){ .items = NULL };
}

static void add_file(struct al_scan *scan, const char *path, const struct stat *st)
{
    if (scan->count == scan->capacity) {
        scan->capacity = scan->capacity ? 2 * scan->capacity : 64;
        scan->items = al_reallocarray(scan->items, scan->capacity, sizeof(*scan->items));
    }
    scan->items[scan->count++] = (struct al_scanned_file){ .path = al_strdup(path),
                                                           .id = al_file_id_from(st),
                                                           .mode = st->st_mode };
}

/* Remove the temporary file of a process that was killed while it wrote. */
static void sweep(int dir_fd, const char *name, const struct stat *st)
{
    if (st->st_uid != geteuid() || st->st_mtim.tv_sec + TEMP_OLD_S >= time(NULL) ||
        kill(al_fs_temp_owner(name), 0) == 0 || errno != ESRCH)
        return;
    if (S_ISREG(st->st_mode) || S_ISLNK(st->st_mode))
        (void)unlinkat(dir_fd, name, 0);
}

static bool is_unnamed(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..") || al_path_has_dot_git(name);
}

static int add_entry(struct walk *walk, const char *dir, int dir_fd, const char *name,
                     struct al_error *err)
{
    al_auto(al_freep) char *path = *dir ? al_asprintf("%s/%s", dir, name) : al_strdup(name);
    struct stat st;

    if (is_unnamed(name) || strlen(path) >= PATH_MAX - sizeof(AL_SANDBOX_ROOT) ||
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (al_fs_temp_owner(name)) {
        sweep(dir_fd, name, &st);
        return 0;
    }
    if (S_ISDIR(st.st_mode))
        al_strv_add(&walk->dirs, path);
    else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
        add_file(&walk->found, path, &st);
    /* The first directory is the one that is scanned. */
    if (walk->found.count > AL_SANDBOX_FILES_MAX || walk->dirs.count > AL_SANDBOX_FILES_MAX + 1)
        return al_sandbox_too_many(err);
    return 0;
}

static bool is_gone(int errno_value)
{
    return errno_value == ENOENT || errno_value == ELOOP || errno_value == ENOTDIR;
}

static int fail(int fd, const char *path, int errno_value, struct al_error *err)
{
    al_auto(al_closep) int file = errno_value == ENOTDIR ? al_nofollow_open(fd, path, O_PATH) : -1;

    if (file >= 0)
        return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "", " is a file; name a directory");
    return al_directory_fail(errno_value, path, err);
}

/* Read one directory.  The first one has to be there. */
static int read_directory(struct walk *walk, size_t number, struct al_error *err)
{
    al_auto(al_freep) char *path = al_strdup(walk->dirs.items[number]);
    int fd = al_nofollow_open(walk->fd, path, O_RDONLY | O_DIRECTORY);
    al_auto(al_closedirp) DIR *dir = fd < 0 ? NULL : al_fs_list(fd);
    int r = 0;

    if (!dir && number && is_gone(fd < 0 ? -fd : errno))
        return 0;
    if (!dir)
        return fail(walk->fd, path, fd < 0 ? -fd : errno, err);
    for (struct dirent *entry; r == 0 && (entry = readdir(dir));)
        r = add_entry(walk, path, fd, entry->d_name, err);
    return r;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct al_scanned_file *)a)->path,
                  ((const struct al_scanned_file *)b)->path);
}

int al_directory_scan(int fd, const char *dir, struct al_scan *ret_scan, struct al_error *err)
{
    struct walk walk = { .fd = fd, .dirs = AL_STRV_INIT };
    int r = 0;

    al_strv_add(&walk.dirs, dir);
    for (size_t i = 0; i < walk.dirs.count && r == 0; i++)
        r = read_directory(&walk, i, err);
    al_strv_clear(&walk.dirs);
    if (r < 0) {
        al_scan_clear(&walk.found);
        return r;
    }
    if (walk.found.count)
        qsort(walk.found.items, walk.found.count, sizeof(*walk.found.items), compare);
    *ret_scan = walk.found;
    return 0;
}
