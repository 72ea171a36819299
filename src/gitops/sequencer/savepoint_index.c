// SPDX-License-Identifier: Apache-2.0
/*
 * The index of a savepoint.
 *
 * Its copy is in memory: most savepoints are thrown away, and the creation and removal of a file
 * takes longer than all else that a savepoint does.  A file with a name exists only while the
 * repository is put back.
 *
 * The copy keeps the times of the index.  git looks into a file that is as old as the index, since
 * it may have changed in the same second; it would take such a change for none beside a younger
 * copy.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/private_dir.h"
#include "gitops/sequencer/savepoint.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/* A file that has lost its name. Returns -errno on failure. */
static int make_nameless(const struct al_repo *repo)
{
    al_auto(al_freep) char *path = al_git_private_name(repo->at.git, "index");
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return -errno;
    (void)unlink(path);
    return fd;
}

static int copy_index(const struct al_repo *repo, int git_dir, struct al_savepoint *savepoint)
{
    al_auto(al_closep) int from = al_nofollow_open(git_dir, "index", O_RDONLY);
    al_auto(al_closep) int to = -1;
    struct stat st;
    int r;

    if (from < 0)
        return from == -ENOENT ? 0 : from;
    if (fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
        return -EINVAL;
    if (st.st_size <= (off_t)AL_SAVEPOINT_MEMORY_BYTES)
        to = memfd_create("index", MFD_CLOEXEC);
    if (to < 0)
        to = make_nameless(repo);
    r = to < 0 ? to : al_fs_copy(from, to);
    if (r < 0)
        return r;
    savepoint->index = to;
    to = -1;
    savepoint->index_times[0] = st.st_atim;
    savepoint->index_times[1] = st.st_mtim;
    return 0;
}

int al_savepoint_take_index(const struct al_repo *repo, struct al_savepoint *savepoint,
                            struct al_error *err)
{
    al_auto(al_closep) int git_dir = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    r = copy_index(repo, git_dir, savepoint);
    return r < 0 ? al_error_errno(err, -r, "cannot read 'index' in the git directory") : 0;
}

/* Write the copy where `to` is open, which closes it. */
static int write_copy(const struct al_savepoint *savepoint, int to)
{
    int r = al_fs_copy(savepoint->index, to);

    if (r == 0 && futimens(to, savepoint->index_times) < 0)
        r = -errno;
    return close(to) < 0 && r == 0 ? -errno : r;
}

int al_savepoint_write_index(const struct al_repo *repo, const struct al_savepoint *savepoint,
                             char **ret_path, struct al_error *err)
{
    al_auto(al_freep) char *path = al_git_private_name(repo->at.git, "index");
    int to, r;

    if (savepoint->index >= 0) {
        to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (to < 0)
            return al_error_errno(err, errno, "cannot write a copy of the index");
        r = write_copy(savepoint, to);
        if (r < 0) {
            (void)unlink(path);
            return al_error_errno(err, -r, "cannot write a copy of the index");
        }
    }
    *ret_path = al_take(&path);
    return 0;
}

/* Under git's own lock no git reads half of it. */
static int replace_index(int git_dir, const struct al_savepoint *savepoint)
{
    int to =
        openat(git_dir, "index.lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    int r = to < 0 ? -errno : write_copy(savepoint, to);

    if (r == 0 && renameat(git_dir, "index.lock", git_dir, "index") < 0)
        r = -errno;
    if (r < 0 && to >= 0)
        (void)unlinkat(git_dir, "index.lock", 0);
    return r;
}

int al_savepoint_restore_index(const struct al_repo *repo, const struct al_savepoint *savepoint,
                               struct al_error *err)
{
    al_auto(al_closep) int git_dir = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    if (savepoint->index >= 0)
        r = replace_index(git_dir, savepoint);
    else if (unlinkat(git_dir, "index", 0) < 0 && errno != ENOENT)
        r = -errno;
    return r < 0 ? al_error_errno(err, -r, "cannot write the index") : 0;
}
