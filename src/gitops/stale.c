// SPDX-License-Identifier: Apache-2.0
#include "gitops/stale.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "util/fs.h"

#define NAME_MAX_BYTES 64u

static bool is_old(const struct stat *lock)
{
    struct timespec now;

    return clock_gettime(CLOCK_REALTIME, &now) == 0 &&
           now.tv_sec - lock->st_mtim.tv_sec > AL_STALE_AFTER_S;
}

/* Whether a process has the file open.  One whose descriptors cannot be read is another user's. */
static bool has_open(int process, const struct stat *lock)
{
    al_auto(al_closedirp) DIR *fds =
        al_fs_list(openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const struct dirent *entry;
    struct stat st;

    while (fds && (entry = readdir(fds)))
        if (isdigit((unsigned char)entry->d_name[0]) &&
            fstatat(dirfd(fds), entry->d_name, &st, 0) == 0 && st.st_ino == lock->st_ino &&
            st.st_dev == lock->st_dev)
            return true;
    return false;
}

static bool is_git(int process)
{
    al_auto(al_closep) int fd = openat(process, "comm", O_RDONLY | O_CLOEXEC);
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;

    return fd >= 0 && al_fs_read_fd(fd, NAME_MAX_BYTES, &name) == 0 &&
           al_starts_with(name.buf, "git");
}

static bool works_in(int process, const struct al_repo *repo)
{
    const char *const places[] = { repo->top, repo->git_dir, repo->common_dir };
    char dir[PATH_MAX];
    ssize_t len = readlinkat(process, "cwd", dir, sizeof(dir) - 1);

    if (len < 0)
        return false;
    dir[len] = '\0';
    for (size_t i = 0; i < AL_COUNT(places); i++)
        if (al_fs_below(places[i], dir))
            return true;
    return false;
}

bool al_git_lock_is_stale(const struct al_repo *repo, const struct stat *lock)
{
    al_auto(al_closedirp) DIR *processes = NULL;
    const struct dirent *entry;

    if (!S_ISREG(lock->st_mode) || lock->st_uid != geteuid() || !is_old(lock))
        return false;
    processes = al_fs_list(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!processes)
        return false;
    while ((entry = readdir(processes))) {
        al_auto(al_closep) int process = -1;

        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        process = openat(dirfd(processes), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (process >= 0 &&
            (has_open(process, lock) || (is_git(process) && works_in(process, repo))))
            return false;
    }
    return true;
}
