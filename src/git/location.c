// SPDX-License-Identifier: Apache-2.0
#include "git/location.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/layer.h"
#include "guard/nofollow.h"
#include "guard/root.h"

void al_location_set_own(struct al_location *at, const char *dir)
{
    at->is_own = true;
    at->dir = al_strdup(dir);
    at->top = al_strdup(dir);
    at->git_dir = al_strdup(dir);
    at->common_dir = al_strdup(dir);
}

void al_location_clear(struct al_location *at)
{
    al_close(at->dir_fd);
    free(at->dir);
    free(at->top);
    free(at->git_dir);
    free(at->common_dir);
    *at = AL_LOCATION_INIT;
}

bool al_location_is_linked(const struct al_location *at)
{
    return strcmp(at->git_dir, at->common_dir) != 0;
}

bool al_location_is_same(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

bool al_location_is_bare(const struct al_location *at)
{
    return !strcmp(at->top, at->git_dir);
}

char *al_location_dir_name(const char *common_dir)
{
    struct stat st;

    return stat(common_dir, &st) < 0 ? NULL
                                     : al_asprintf("%llx-%llx", (unsigned long long)st.st_dev,
                                                   (unsigned long long)st.st_ino);
}

/* Open it relative to the descriptor of its root. */
static int open_part(const struct al_location *at, const char *path, int *ret_fd,
                     struct al_error *err)
{
    const struct al_root *root =
        at->is_own ? NULL : al_roots_find(al_roots_parts(at->git->roots), path);
    int fd = -ENOENT;

    if (at->is_own)
        fd = al_nofollow_open(at->dir_fd, "", O_PATH | O_DIRECTORY);
    else if (root)
        fd = al_nofollow_open(root->fd, path + strlen(root->path) + (strcmp(root->path, path) != 0),
                              O_PATH | O_DIRECTORY);
    if (fd < 0)
        return al_error_errno(err, -fd, "cannot open the repository");
    *ret_fd = fd;
    return 0;
}

int al_location_open_top(const struct al_location *at, int *ret_fd, struct al_error *err)
{
    return open_part(at, at->top, ret_fd, err);
}

int al_location_open_git_dir(const struct al_location *at, int *ret_fd, struct al_error *err)
{
    return open_part(at, at->git_dir, ret_fd, err);
}

int al_location_open_common_dir(const struct al_location *at, int *ret_fd, struct al_error *err)
{
    return open_part(at, at->common_dir, ret_fd, err);
}

int al_location_open_all(const struct al_location *at, int *ret_top_fd, int *ret_git_fd,
                         int *ret_common_fd, struct al_error *err)
{
    int r = al_location_open_top(at, ret_top_fd, err);

    if (r == 0)
        r = al_location_open_git_dir(at, ret_git_fd, err);
    return r < 0 ? r : al_location_open_common_dir(at, ret_common_fd, err);
}

int al_location_make_bare(struct al_location *at, struct al_error *err)
{
    int fd = -1;
    int r = al_location_open_git_dir(at, &fd, err);

    if (r < 0)
        return r;
    al_closep(&at->dir_fd);
    at->dir_fd = fd;
    free(at->dir);
    free(at->top);
    at->dir = al_strdup(at->git_dir);
    at->top = al_strdup(at->git_dir);
    at->is_said_bare = true;
    return 0;
}

/* Like git: under sudo, root may also use the files of the user who called sudo. */
bool al_location_is_own(const struct stat *st)
{
    const uid_t own = geteuid();
    const char *sudo;

    if (st->st_uid == own)
        return true;
    sudo = own == 0 ? secure_getenv("SUDO_UID") : NULL;
    return sudo && strtoul(sudo, NULL, 10) == st->st_uid;
}

static bool owned(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && al_location_is_own(&st);
}

bool al_location_is_owned(const struct al_location *at)
{
    al_auto(al_freep) char *dot_git = al_fs_join(at->top, ".git");

    return owned(at->top) && (al_location_is_bare(at) || owned(dot_git)) && owned(at->git_dir) &&
           owned(at->common_dir);
}

const char *al_location_worktree_name(const struct al_location *at, const char *file)
{
    if (al_fs_beneath(at->top, at->common_dir) && al_fs_beneath(at->common_dir, file))
        return NULL;
    return al_fs_beneath(at->top, file);
}
