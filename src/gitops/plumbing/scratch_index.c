// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/scratch_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/private_dir.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/* git compares files again whose time is not before the index's.  A copy with a later time would
 * make it believe entries that it must look at. */
static int copy_with_time(int from, int to)
{
    struct stat st;
    int r = al_fs_copy(from, to);

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
    if (from) {
        fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        r = copy_file(fd < 0 ? -errno : fd, path);
    } else {
        fd = al_nofollow_open(git_dir, "index", O_RDONLY);
        r = copy_file(fd, path);
    }
    if (r < 0)
        return al_error_errno(err, -r, "cannot copy the index");
    *ret_path = al_take(&path);
    return 0;
}

int al_scratch_index_install(const struct al_repo *repo, const char *path, struct al_error *err)
{
    al_auto(al_closep) int git_dir = -1, from = -1, to = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    to = openat(git_dir, "index.lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (to < 0)
        return al_error_errno(err, errno, "cannot lock the index");
    r = from < 0 ? -errno : copy_with_time(from, to);
    if (r == 0 && renameat(git_dir, "index.lock", git_dir, "index") < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(git_dir, "index.lock", 0);
    return r < 0 ? al_error_errno(err, -r, "cannot write the index") : 0;
}

void al_scratch_index_removep(char **path)
{
    if (*path)
        (void)unlink(*path);
    free(*path);
}
