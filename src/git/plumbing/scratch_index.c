// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/scratch_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/git_lock.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "guard/nofollow.h"

#define LOCK         "index.lock"
#define ATTEMPTS_MAX 16

/* git compares files again whose time is not before the index's.  A copy with a later time would
 * make it believe entries that it must look at. */
static int copy_with_time(int from, int to)
{
    struct stat st;
    int r = al_fs_copy(from, to, UINT64_MAX);

    if (r < 0)
        return r;
    return fstat(from, &st) < 0 ||
                   futimens(to, (const struct timespec[]){ st.st_mtim, st.st_mtim }) < 0
               ? -errno
               : 0;
}

static int copy_file(int from, const char *path)
{
    al_auto(al_closep) int to = -1;
    struct stat st;

    if (from == -ENOENT) /* the index of a new repository: git begins an empty one */
        return 0;
    if (from < 0)
        return from;
    if (fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
        return -EINVAL;
    to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return to < 0 ? -errno : copy_with_time(from, to);
}

int al_scratch_index_make(const struct al_repo *repo, const char *from, char **ret_path,
                          struct al_error *err)
{
    al_auto(al_scratch_index_removep) char *path = al_git_private_name(repo->at.git, "index");
    al_auto(al_closep) int git_dir = -1, fd = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    fd = from ? open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
              : al_nofollow_open(git_dir, "index", O_RDONLY);
    r = copy_file(from && fd < 0 ? -errno : fd, path);
    if (r < 0)
        return al_error_errno(err, -r, "cannot copy the index");
    *ret_path = al_take(&path);
    return 0;
}

static bool is_ours(const struct al_index_lock *lock)
{
    struct stat held, there;

    return lock->fd >= 0 && fstat(lock->fd, &held) == 0 &&
           fstatat(lock->git_dir, LOCK, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

static void forget(struct al_index_lock *lock)
{
    al_closep(&lock->fd);
    al_closep(&lock->git_dir);
}

void al_index_lock_release(struct al_index_lock *lock)
{
    if (is_ours(lock))
        (void)unlinkat(lock->git_dir, LOCK, 0);
    forget(lock);
}

int al_index_lock_take(const struct al_repo *repo, struct al_index_lock *ret_lock,
                       struct al_error *err)
{
    al_auto(al_index_lock_release) struct al_index_lock lock = AL_INDEX_LOCK_INIT;
    int r = al_location_open_git_dir(&repo->at, &lock.git_dir, err);

    for (int attempt = 0; r == 0; attempt++) {
        lock.fd =
            openat(lock.git_dir, LOCK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (lock.fd >= 0)
            break;
        if (errno != EEXIST || attempt == ATTEMPTS_MAX)
            return al_error_errno(err, errno, "cannot lock the index");
        r = al_git_lock_wait(&repo->at, AL_LOCK_INDEX, repo->at.budget, err);
    }
    if (r < 0)
        return r;
    *ret_lock = lock;
    lock = AL_INDEX_LOCK_INIT;
    return 0;
}

/* The mode stays what it is: a repository may be shared. */
static int fill(const struct al_index_lock *lock, int from)
{
    struct stat st;

    if (fstatat(lock->git_dir, "index", &st, AT_SYMLINK_NOFOLLOW) == 0)
        (void)fchmod(lock->fd, st.st_mode & 0777);
    return copy_with_time(from, lock->fd);
}

int al_index_lock_write(struct al_index_lock *lock, const char *path, struct al_error *err)
{
    al_auto(al_closep) int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int r = from < 0 ? -errno : fill(lock, from);

    return r < 0 ? al_error_errno(err, -r, "cannot write the index") : 0;
}

int al_index_lock_install(struct al_index_lock *lock, struct al_error *err)
{
    int r = is_ours(lock) ? 0 : -ESTALE;

    if (r == 0 && renameat(lock->git_dir, LOCK, lock->git_dir, "index") < 0)
        r = -errno;
    if (r < 0)
        return al_error_errno(err, -r, "cannot replace the index");
    forget(lock);
    return 0;
}

void al_scratch_index_removep(char **path)
{
    if (*path)
        (void)unlink(*path);
    free(*path);
}

int al_index_read_tree(const struct al_repo *repo, const char *index, const char *const *words,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.index = index;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "read-tree", NULL);
    while (*words)
        al_strv_add(&command.argv, *words++);
    return al_git_write(&repo->at, &command, AL_LOCK_INDEX, err);
}

int al_index_update(const struct al_repo *repo, int top_fd, const char *index, const char *option,
                    const struct al_str *input, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!input->len)
        return 0;
    command.index = index;
    command.cwd_fd = top_fd;
    al_git_command_feed(&command, input);
    al_strv_add(&command.argv, "git");
    if (!top_fd)
        al_strv_adds(&command.argv, "-C", repo->at.top, NULL);
    al_strv_adds(&command.argv, "update-index", "-z", option, NULL);
    if (strcmp(option, "--index-info") != 0)
        al_strv_add(&command.argv, "--stdin");
    return al_git_write(&repo->at, &command, 0, err);
}
