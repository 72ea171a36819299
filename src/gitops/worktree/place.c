// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/layer.h"
#include "gitops/locate.h"
#include "gitops/location.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

#define NAME_MAX_BYTES 64u

void al_worktree_place_clear(struct al_worktree_place *place)
{
    free(place->main);
    free(place->dir);
    al_close(place->fd);
    *place = AL_WORKTREE_PLACE_INIT;
}

int al_worktree_check_name(const char *param, const char *name, struct al_error *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);

    if (len && len <= NAME_MAX_BYTES && strspn(name, allowed) == len && name[0] != '-' &&
        strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !al_path_has_dot_git(name))
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s: a worktree's name has 1 to %u letters, digits, '.', '_' and '-', does "
                        "not begin with '-', and is not '.', '..' or '.git'",
                        param, NAME_MAX_BYTES);
}

/* Whether a bare repository is in a project's directory, whose `.git` file leads to it. */
static bool is_in_project(const struct al_repo *repo, int common_fd)
{
    const char *slash = strrchr(repo->at.common_dir, '/');
    al_auto(al_freep) char *parent =
        al_strndup(repo->at.common_dir, (size_t)(slash - repo->at.common_dir));
    al_auto(al_closep) int fd = openat(common_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_freep) char *named =
        fd < 0 ? NULL : al_git_read_pointer(fd, ".git", "gitdir: ", parent);
    struct stat one, other;

    return named && stat(named, &one) == 0 && fstat(common_fd, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Open the main working tree: git names it so, whatever core.worktree says.  Of a bare repository
 * the directory of the project, or its own. */
static int open_main(const struct al_repo *repo, struct al_worktree_place *place, int *ret_fd,
                     struct al_error *err)
{
    al_auto(al_closep) int common_fd = -1;
    bool beside;
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r < 0)
        return r;
    beside = al_ends_with(repo->at.common_dir, "/.git") || is_in_project(repo, common_fd);
    *ret_fd = openat(common_fd, beside ? ".." : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    place->main = *ret_fd < 0 ? NULL : al_fs_fd_path(*ret_fd);
    if (!place->main)
        return al_error_errno(err, errno, "cannot open the main working tree");
    return 0;
}

static int in_the_way(const char *path, int errno_value, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    if (errno_value == ELOOP || errno_value == ENOTDIR || errno_value == EXDEV)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' cannot hold worktrees: a link or a file is in its path; move it "
                            "away, or set worktrees.dir",
                            safe);
    return al_error_errno(err, errno_value, "cannot use '%s' for worktrees", safe);
}

/* Open `path` below `base_fd`, and make its missing directories. */
static int open_dir(int base_fd, const char *path, bool make, bool *ret_made)
{
    al_auto(al_closep) int parent_fd = -1;
    const char *name;
    int fd = al_nofollow_open(base_fd, path, O_RDONLY | O_DIRECTORY);

    if (fd != -ENOENT || !make)
        return fd;
    parent_fd = al_nofollow_open_parent(base_fd, path, true, &name);
    if (parent_fd < 0)
        return parent_fd;
    *ret_made = mkdirat(parent_fd, name, 0777) == 0;
    if (!*ret_made && errno != EEXIST)
        return -errno;
    return al_nofollow_open(parent_fd, name, O_RDONLY | O_DIRECTORY);
}

/* Without it, git would list every file of every worktree as untracked.  A file that is there
 * stays. */
static int ignore_all(const struct al_worktree_place *place)
{
    int r = al_fs_write_atomic(place->fd, ".gitignore", "*\n", 2, 0644, false);

    return r == -EEXIST ? 0 : r;
}

int al_worktree_place_find(const struct al_repo *repo, bool make,
                           struct al_worktree_place *ret_place, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_closep) int main_fd = -1;
    al_auto(al_closep) int base_fd = -1;
    const char *dir = repo->at.git->worktrees_dir;
    int r;

    if (!dir)
        return al_error_set(err, AL_ERR_EXECUTION, "this session makes no worktrees");
    r = open_main(repo, &place, &main_fd, err);
    if (r < 0)
        return r;
    place.dir = al_fs_join(place.main, dir);
    base_fd = *dir == '/' ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : al_take_fd(&main_fd);
    place.fd = open_dir(base_fd, *dir == '/' ? dir + 1 : dir, make, &place.made);
    if (place.fd == -ENOENT && !make)
        place.fd = -1;
    else if (place.fd < 0)
        return in_the_way(place.dir, -place.fd, err);
    else if (make && *dir != '/')
        r = ignore_all(&place);
    if (r < 0)
        return in_the_way(place.dir, -r, err);
    *ret_place = place;
    place = AL_WORKTREE_PLACE_INIT;
    return 0;
}
