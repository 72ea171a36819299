// SPDX-License-Identifier: Apache-2.0
/*
 * Removing a tree that a confined program could write, and may still be writing.
 *
 * - Every directory is opened by its name in the directory above (openat(2), O_NOFOLLOW), so a
 *   directory that is replaced by a link meanwhile is removed as a link.
 * - Each level costs a descriptor.  A directory below MAX_DEPTH levels is moved to the top of the
 *   tree, and is removed from there.
 * - A directory without permissions gets them back.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

#define MAX_DEPTH 32
/* Each round removes MAX_DEPTH levels of the deepest branch. */
#define MAX_ROUNDS 100000

struct removal {
    int top_fd;      /* of the directory that is removed */
    unsigned nmoved; /* directories moved to the top */
};

/* chmod(2) follows links.  A descriptor of the entry itself has a path that leads nowhere else. */
static void make_accessible(int at_fd, const char *name)
{
    al_auto(al_closep) int fd = openat(at_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char path[64];

    if (fd < 0)
        return;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    (void)chmod(path, S_IRWXU);
}

static int open_dir(int at_fd, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(at_fd, name, flags);

    if (fd >= 0 || errno != EACCES)
        return fd;
    make_accessible(at_fd, name);
    return openat(at_fd, name, flags);
}

static void move_to_top(struct removal *removal, int at_fd, const char *name)
{
    char moved[32];

    (void)snprintf(moved, sizeof(moved), ".moved-%u", removal->nmoved);
    if (renameat(at_fd, name, removal->top_fd, moved) == 0 || errno == EEXIST ||
        errno == ENOTEMPTY || errno == ENOTDIR)
        removal->nmoved++;
}

/* At most MAX_DEPTH levels of recursion. */
static void remove_entries(struct removal *removal, int fd, unsigned depth)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(fd);
    const struct dirent *entry;

    (void)fchmod(fd, S_IRWXU); /* entries of a directory without `w` cannot be removed */
    while (dir && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        al_auto(al_closep) int child_fd = -1;

        if (!strcmp(name, ".") || !strcmp(name, "..") || unlinkat(fd, name, 0) == 0)
            continue;
        if (depth == MAX_DEPTH && unlinkat(fd, name, AT_REMOVEDIR) < 0) {
            move_to_top(removal, fd, name);
            continue;
        }
        child_fd = open_dir(fd, name);
        if (child_fd >= 0)
            remove_entries(removal, child_fd, depth + 1);
        (void)unlinkat(fd, name, AT_REMOVEDIR);
    }
}

void al_fs_remove_tree(const char *path)
{
    al_fs_remove_tree_at(AT_FDCWD, path);
}

void al_fs_remove_tree_at(int dir_fd, const char *name)
{
    al_auto(al_closep) int top_fd = open_dir(dir_fd, name);
    struct removal removal = { .top_fd = top_fd };
    unsigned nmoved;

    if (top_fd < 0) {
        (void)unlinkat(dir_fd, name, 0);
        return;
    }
    for (unsigned round = 0; round < MAX_ROUNDS; round++) {
        nmoved = removal.nmoved;
        remove_entries(&removal, top_fd, 1);
        if (removal.nmoved == nmoved)
            break;
    }
    (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}
