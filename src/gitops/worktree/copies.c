// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

#define INCLUDE_FILE ".worktreeinclude"

/* A copy while it is made. */
struct copy {
    const struct al_repo *repo;
    const char *skip;
    int from_fd, to_fd;
    struct al_strv paths; /* relative to the top */
};

static void copy_clear(struct copy *copy)
{
    al_close(copy->from_fd);
    al_strv_clear(&copy->paths);
}

/* A directory is a repository of its own, such as a linked worktree. */
static bool take_path(void *payload, char *const *fields)
{
    struct copy *copy = payload;
    al_auto(al_freep) char *abs = al_fs_join(copy->repo->at.top, fields[0]);

    if (!al_ends_with(fields[0], "/") && !al_fs_beneath(copy->skip, abs))
        al_strv_add(&copy->paths, fields[0]);
    return true;
}

/* List the untracked files that the include file names, and keep those that git ignores. */
static int list(struct copy *copy, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_path, copy);
    struct al_strv ignored = AL_STRV_INIT;
    int r;

    command.cwd_fd = copy->from_fd;
    al_strv_adds(&command.argv, "git", "ls-files", "-z", "--others", "--ignored",
                 "--exclude-from=" INCLUDE_FILE, NULL);
    r = al_git_read_records(&copy->repo->at, &command, &records, budget, err);
    if (r == 0 && copy->paths.count)
        r = al_git_ignored_paths(copy->repo, copy->from_fd, &copy->paths, budget, &ignored, err);
    al_strv_clear(&copy->paths);
    copy->paths = ignored;
    return r;
}

/* Open a file to copy; -1 for what is none, and for a link on the way. */
static int open_source(const struct copy *copy, const char *path, struct stat *ret_st)
{
    int fd = al_nofollow_open(copy->from_fd, path, O_RDONLY);

    if (fd >= 0 && fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode))
        return fd;
    al_close(fd);
    return -1;
}

/* Leave out what cannot be copied, and add the sizes up. */
static void measure(struct copy *copy, struct al_worktree_copies *copies)
{
    struct al_strv kept = AL_STRV_INIT;

    for (size_t i = 0; i < copy->paths.count; i++) {
        const char *path = copy->paths.items[i];
        struct stat st;
        al_auto(al_closep) int fd = open_source(copy, path, &st);

        if (fd < 0) {
            copies->links +=
                fstatat(copy->from_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
            continue;
        }
        copies->bytes += (uint64_t)st.st_size;
        al_strv_add(&kept, path);
    }
    al_strv_clear(&copy->paths);
    copy->paths = kept;
}

static int copy_bytes(int from_fd, int to_fd, uint64_t room)
{
    ssize_t n;

    while ((n = sendfile(to_fd, from_fd, NULL, 1u << 20)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if ((uint64_t)n > room)
            return -EFBIG; /* it grows while it is copied */
        room -= (uint64_t)n;
    }
    return 0;
}

/* 0, also for a file that is gone by now or has been in the worktree before; or -errno. */
static int copy_file(const struct copy *copy, const char *path, bool *ret_copied)
{
    struct stat st;
    const char *name;
    al_auto(al_closep) int from_fd = open_source(copy, path, &st);
    al_auto(al_closep) int parent_fd = -1;
    al_auto(al_closep) int to_fd = -1;
    int r;

    *ret_copied = false;
    if (from_fd < 0)
        return 0;
    parent_fd = al_nofollow_open_parent(copy->to_fd, path, true, &name);
    if (parent_fd < 0)
        return parent_fd == -ENOTDIR || parent_fd == -ELOOP ? 0 : parent_fd;
    to_fd = openat(parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to_fd < 0)
        return errno == EEXIST ? 0 : -errno;
    r = copy_bytes(from_fd, to_fd, AL_WORKTREE_COPIES_MAX_BYTES);
    if (r == 0 && fchmod(to_fd, st.st_mode & 0777) < 0)
        r = -errno;
    *ret_copied = r == 0;
    return r;
}

static int copy_all(const struct copy *copy, struct al_run_limits *budget,
                    struct al_worktree_copies *copies, struct al_error *err)
{
    for (size_t i = 0; i < copy->paths.count; i++) {
        bool copied;
        int r = copy_file(copy, copy->paths.items[i], &copied);

        if (r < 0) {
            al_auto(al_freep) char *safe = al_text_sanitize_line(copy->paths.items[i]);

            return al_error_errno(err, -r, "cannot copy '%s' into the worktree", safe);
        }
        copies->copied += copied;
        if (al_cancel_fired(budget->cancel))
            return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    }
    return 0;
}

int al_worktree_copy_ignored(const struct al_repo *repo, const char *skip, int to_fd,
                             struct al_run_limits *budget, struct al_worktree_copies *ret_copies,
                             struct al_error *err)
{
    al_auto(copy_clear) struct copy copy = {
        .repo = repo, .skip = skip, .from_fd = -1, .to_fd = to_fd
    };
    struct stat st;
    int r = al_location_open_top(&repo->at, &copy.from_fd, err);

    *ret_copies = (struct al_worktree_copies){ .copied = 0 };
    if (r < 0 || fstatat(copy.from_fd, INCLUDE_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(st.st_mode))
        return r;
    r = list(&copy, budget, err);
    if (r < 0)
        return r;
    measure(&copy, ret_copies);
    return ret_copies->bytes > AL_WORKTREE_COPIES_MAX_BYTES
               ? 0
               : copy_all(&copy, budget, ret_copies, err);
}
