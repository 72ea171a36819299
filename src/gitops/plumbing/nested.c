// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/nested.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gitops/layer.h"
#include "gitops/locate.h"
#include "gitops/location.h"
#include "gitops/refs.h"
#include "guard/path.h"
#include "guard/root.h"
#include "util/fs.h"

/* Open a directory that a repository names, inside the roots. */
static int open_dir(const struct al_location *at, const char *path, char **ret_abs)
{
    al_auto(al_closep) int fd = -1;
    int r = al_roots_open(al_roots_parts(at->git->roots), path, O_PATH | O_DIRECTORY, &fd, ret_abs,
                          NULL);

    return r == AL_ERR_NOT_FOUND ? AL_ERR_EXECUTION : r;
}

/* Find the git directory of the working tree at `top`. */
static int find_git_dir(const struct al_location *at, const char *top, char **ret_dir)
{
    al_auto(al_freep) char *path = al_fs_join(top, ".git");
    al_auto(al_freep) char *named = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int top_fd = -1;
    struct stat st;
    int r = al_roots_open(at->git->roots, top, O_PATH | O_DIRECTORY, &top_fd, &abs, NULL);

    if (r < 0)
        return r;
    if (fstatat(top_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? AL_ERR_NOT_FOUND : AL_ERR_EXECUTION;
    named =
        S_ISREG(st.st_mode) ? al_git_read_pointer(top_fd, ".git", "gitdir: ", top) : al_take(&path);
    return named ? open_dir(at, named, ret_dir) : AL_ERR_EXECUTION;
}

/* Find the common directory, which is the git directory unless this is a linked working tree. */
static int find_common_dir(const struct al_location *at, const char *git_dir, char **ret_dir)
{
    al_auto(al_freep) char *named = NULL;
    al_auto(al_closep) int dir_fd = open(git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (dir_fd >= 0)
        named = al_git_read_pointer(dir_fd, "commondir", "", git_dir);
    if (named)
        return open_dir(at, named, ret_dir);
    *ret_dir = al_strdup(git_dir);
    return 0;
}

int al_git_nested_dirs(const struct al_location *at, const char *top, char **ret_git_dir,
                       char **ret_common_dir)
{
    al_auto(al_freep) char *git_dir = NULL;
    int r = find_git_dir(at, top, &git_dir);

    if (r == 0)
        r = find_common_dir(at, git_dir, ret_common_dir);
    if (r == 0)
        *ret_git_dir = al_take(&git_dir);
    return r;
}

char *al_git_nested_head(const struct al_location *at, const char *path)
{
    al_auto(al_freep) char *top = al_fs_join(at->dir, path);
    al_auto(al_freep) char *git_dir = NULL;
    al_auto(al_freep) char *common_dir = NULL;
    struct al_location nested = { .git = at->git, .git_fd = -1 };

    if (find_git_dir(at, top, &git_dir) < 0)
        return NULL;
    /* References outside the roots are not read; HEAD itself may still hold the commit. */
    if (find_common_dir(at, git_dir, &common_dir) < 0)
        common_dir = al_strdup(git_dir);
    nested.git_dir = git_dir;
    nested.common_dir = common_dir;
    return al_ref_head(&nested);
}
