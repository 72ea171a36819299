// SPDX-License-Identifier: Apache-2.0
/* Linking the objects of one repository into another one, as `git clone --local` does. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/worktree/submodules.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/* A store while it is linked. */
struct linking {
    size_t *files_left;
    uint64_t bytes_left; /* that may be copied */
    struct al_run_limits *budget;
    struct al_error *err;
};

static int too_large(const struct linking *linking)
{
    return al_error_set(linking->err, AL_ERR_EXECUTION, "its object store is too large");
}

static bool is_same(int fd, const char *name, const struct stat *st)
{
    struct stat other;

    return fstatat(fd, name, &other, AT_SYMLINK_NOFOLLOW) == 0 && other.st_dev == st->st_dev &&
           other.st_ino == st->st_ino;
}

/* Where the file system links no files, or not these. */
static int copy_file(struct linking *linking, int from_fd, int to_fd, const char *name,
                     const struct stat *st)
{
    al_auto(al_closep) int from =
        openat(from_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    al_auto(al_closep) int to = -1;
    int r;

    if ((uint64_t)st->st_size > linking->bytes_left)
        return too_large(linking);
    linking->bytes_left -= (uint64_t)st->st_size;
    to = openat(to_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
    r = from < 0 || to < 0 ? -errno : al_fs_copy(from, to);
    return r < 0 ? al_error_errno(linking->err, -r, "its objects cannot be copied") : 0;
}

/* Only regular files of the user's count: a link in an object store would bring in what it leads
 * to, and a file that is linked must be the one that was looked at. */
static int take_file(struct linking *linking, int from_fd, int to_fd, const char *name)
{
    struct stat st;

    if (fstatat(from_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0; /* git packs objects, and deletes the loose ones */
    if (S_ISDIR(st.st_mode))
        return 0;
    if (!S_ISREG(st.st_mode) || !al_location_is_own(&st))
        return al_error_set(linking->err, AL_ERR_EXECUTION,
                            "its object store has something in it that is no file of the user's");
    if (!(*linking->files_left)--)
        return too_large(linking);
    if (linkat(from_fd, name, to_fd, name, 0) < 0) {
        if (errno == ENOENT)
            return 0;
        return errno == EXDEV || errno == EPERM || errno == EMLINK
                   ? copy_file(linking, from_fd, to_fd, name, &st)
                   : al_error_errno(linking->err, errno, "its objects cannot be linked");
    }
    return is_same(to_fd, name, &st) ? 0
                                     : al_error_set(linking->err, AL_ERR_EXECUTION,
                                                    "its object store was changed meanwhile");
}

static int take_dir(struct linking *linking, int from_objects, int to_objects, const char *name)
{
    al_auto(al_closep) int to_fd = -1;
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(from_objects, name, O_RDONLY | O_DIRECTORY));
    const struct dirent *entry;
    int r = 0;

    if (!dir)
        return errno == ENOENT ? 0
                               : al_error_errno(linking->err, errno, "its objects cannot be read");
    if (mkdirat(to_objects, name, 0777) < 0 && errno != EEXIST)
        return al_error_errno(linking->err, errno, "its objects cannot be linked");
    to_fd = al_nofollow_open(to_objects, name, O_RDONLY | O_DIRECTORY);
    if (to_fd < 0)
        return al_error_errno(linking->err, -to_fd, "its objects cannot be linked");
    while (r == 0 && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || al_starts_with(entry->d_name, "tmp_"))
            continue;
        r = take_file(linking, dirfd(dir), to_fd, entry->d_name);
        if (r == 0 && al_cancel_fired(linking->budget->cancel))
            r = al_error_set(linking->err, AL_ERR_CANCELLED, "Cancelled");
    }
    return r;
}

int al_worktree_link_objects(int from_fd, int to_fd, size_t *files_left,
                             struct al_run_limits *budget, struct al_error *err)
{
    struct linking linking = { .files_left = files_left,
                               .bytes_left = AL_WORKTREE_SUBMODULE_BYTES_MAX,
                               .budget = budget,
                               .err = err };
    struct stat st;
    int r = 0;

    if (fstatat(from_fd, "info/alternates", &st, AT_SYMLINK_NOFOLLOW) == 0)
        return al_error_set(err, AL_ERR_EXECUTION, "it borrows objects");
    /* The loose ones first: git packs them before it deletes them. */
    for (unsigned i = 0; i < 256 && r == 0; i++) {
        char name[3];

        (void)snprintf(name, sizeof(name), "%02x", i);
        r = take_dir(&linking, from_fd, to_fd, name);
    }
    return r < 0 ? r : take_dir(&linking, from_fd, to_fd, "pack");
}
