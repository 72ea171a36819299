// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_in_the_way.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/nofollow.h"
#include "util/fs.h"

#define DEPTH_MAX 200u /* each level has a descriptor */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Whether the changes remove a file. */
static bool is_removed(const struct al_differences *changes, const char *path)
{
    al_auto(al_freep) char *name = al_strdup(path);
    const struct al_difference key = { .part = AL_PART_WORKTREE, .name = name };
    const struct al_difference *found =
        bsearch(&key, changes->items, changes->count, sizeof(key), al_difference_order);

    return found && !found->to;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_names(DIR *dir, struct al_strv *ret_names)
{
    struct dirent *entry;

    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            al_strv_add(ret_names, entry->d_name);
    if (ret_names->count)
        qsort(ret_names->items, ret_names->count, sizeof(*ret_names->items), by_name);
}

/* The first file in a directory that the changes do not remove; NULL: none.  A directory that
 * cannot be read counts as one.  Caller frees. */
static char *find_file(int parent_fd, const char *name, const char *path,
                       const struct al_differences *changes, unsigned depth)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list(openat(parent_fd, name, DIR_FLAGS));
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    char *found = NULL;

    if (!dir || depth == DEPTH_MAX)
        return al_strdup(path);
    list_names(dir, &names);
    for (size_t i = 0; !found && i < names.count; i++) {
        al_auto(al_freep) char *below = al_fs_join(path, names.items[i]);
        struct stat st;

        if (fstatat(dirfd(dir), names.items[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            found = find_file(dirfd(dir), names.items[i], below, changes, depth + 1);
        else if (!is_removed(changes, below))
            found = al_take(&below);
    }
    return found;
}

/* Open the parent directory of a path.  -1: there is none, or `ret_obstacle` is in its place: the
 * path of something else than a directory. */
static int open_parent(int top_fd, const char *path, char **ret_obstacle)
{
    al_auto(al_closep) int fd = fcntl(top_fd, F_DUPFD_CLOEXEC, 0);

    for (const char *at = path, *slash; fd >= 0 && (slash = strchr(at, '/')); at = slash + 1) {
        al_auto(al_freep) char *name = al_strndup(at, (size_t)(slash - at));
        int next = al_nofollow_open(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (next < 0 && next != -ENOENT)
            *ret_obstacle = al_strndup(path, (size_t)(slash - path));
        al_close(fd);
        fd = next < 0 ? -1 : next;
    }
    return al_take_fd(&fd);
}

void al_find_in_the_way(int top_fd, const struct al_differences *changes,
                        const struct al_difference *change, al_is_as_wanted_fn *is_wanted,
                        const void *payload, struct al_strv *ret_names)
{
    const char *slash = strrchr(change->name, '/'), *name = slash ? slash + 1 : change->name;
    al_auto(al_freep) char *obstacle = NULL;
    al_auto(al_closep) int parent_fd = open_parent(top_fd, change->name, &obstacle);
    struct stat st;

    if (parent_fd < 0) {
        if (obstacle && !is_removed(changes, obstacle))
            al_strv_take(ret_names, al_take(&obstacle));
        return;
    }
    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (!S_ISDIR(st.st_mode))
        obstacle = is_wanted(payload, parent_fd, name, change) ? NULL : al_strdup(change->name);
    else
        obstacle = find_file(parent_fd, name, change->name, changes, 0);
    if (obstacle)
        al_strv_take(ret_names, al_take(&obstacle));
}

/* Whether one path is the other's directory. */
static bool is_below(const char *path, const char *directory)
{
    size_t len = strlen(directory);

    return !strncmp(path, directory, len) && path[len] == '/';
}

bool al_is_in_the_way(const struct al_differences *changes, const char *path)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];

        if (change->part == AL_PART_WORKTREE && change->to &&
            (is_below(change->name, path) || is_below(path, change->name)))
            return true;
    }
    return false;
}

/* rmdir(2) takes no directory that has anything. */
static void remove_level(int parent_fd, const char *name, unsigned depth)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list(openat(parent_fd, name, DIR_FLAGS));
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (!dir || depth == DEPTH_MAX)
        return;
    list_names(dir, &names);
    for (size_t i = 0; i < names.count; i++)
        remove_level(dirfd(dir), names.items[i], depth + 1);
    (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
}

void al_remove_empty_directories(int top_fd, const char *path)
{
    const char *slash = strrchr(path, '/');
    al_auto(al_freep) char *obstacle = NULL;
    al_auto(al_closep) int parent_fd = open_parent(top_fd, path, &obstacle);

    if (parent_fd >= 0)
        remove_level(parent_fd, slash ? slash + 1 : path, 0);
}
