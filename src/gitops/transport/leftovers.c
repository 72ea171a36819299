// SPDX-License-Identifier: Apache-2.0
#include "gitops/transport/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gitops/location.h"
#include "util/fs.h"

/* File times tick more coarsely than the clock. */
#define TICK_NS 20000000

int64_t al_leftovers_since(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - TICK_NS;
}

/* The target of a link below /proc/<pid>; false for another user's process and one that is gone. */
static bool read_link(const char *pid, const char *name, char ret_target[PATH_MAX])
{
    al_auto(al_freep) char *path = al_asprintf("/proc/%s/%s", pid, name);
    ssize_t len = readlink(path, ret_target, PATH_MAX - 1);

    if (len <= 0)
        return false;
    ret_target[len] = '\0';
    return true;
}

static bool is_git_in(const struct al_repo *repo, const char *pid)
{
    char target[PATH_MAX];
    const char *name;

    if (!read_link(pid, "exe", target))
        return false;
    name = strrchr(target, '/');
    if (!name || !al_starts_with(name, "/git"))
        return false;
    return read_link(pid, "cwd", target) &&
           (al_fs_beneath(repo->at.top, target) || al_fs_beneath(repo->at.common_dir, target));
}

static bool is_git_at_work(const struct al_repo *repo)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    bool found = !dir;

    while (dir && !found && (entry = readdir(dir)))
        found = isdigit((unsigned char)entry->d_name[0]) && is_git_in(repo, entry->d_name);
    if (dir)
        (void)closedir(dir);
    return found;
}

/* A write lease is granted only if no other process has the file open (fcntl(2)).  An open(2) by
 * another process then waits until we release the lease; the signal that we get is ignored by
 * default. */
static bool is_open_elsewhere(int fd)
{
    if (fcntl(fd, F_SETSIG, SIGURG) < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
        return true;
    (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}

static bool is_temporary(const char *name)
{
    static const char *const beginnings[] = { "tmp_obj_", "tmp_pack_", "tmp_idx_", "tmp_rev_" };

    for (size_t i = 0; i < AL_COUNT(beginnings); i++)
        if (al_starts_with(name, beginnings[i]))
            return true;
    return false;
}

static void remove_file(int dir_fd, const char *name, int64_t since)
{
    al_auto(al_closep) int fd =
        openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct al_file_id id;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    id = al_file_id_from(&st);
    if (id.ctime_ns >= since && !is_open_elsewhere(fd))
        (void)unlinkat(dir_fd, name, 0);
}

static void remove_in(int objects_fd, const char *name, int64_t since)
{
    int fd = openat(objects_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        al_close(fd);
        return;
    }
    while ((entry = readdir(dir)))
        if (is_temporary(entry->d_name))
            remove_file(dirfd(dir), entry->d_name, since);
    (void)closedir(dir);
}

void al_leftovers_remove(const struct al_repo *repo, int64_t since)
{
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_closep) int objects_fd = -1;

    if (is_git_at_work(repo) || al_location_open_common_dir(&repo->at, &common_fd, NULL) < 0)
        return;
    objects_fd = openat(common_fd, "objects", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (objects_fd < 0)
        return;
    remove_in(objects_fd, ".", since);
    remove_in(objects_fd, "pack", since);
    for (unsigned i = 0; i < 256; i++) {
        char name[3];

        (void)snprintf(name, sizeof(name), "%02x", i);
        remove_in(objects_fd, name, since);
    }
}
