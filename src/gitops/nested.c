// SPDX-License-Identifier: Apache-2.0
#include "gitops/nested.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gitops/private.h"
#include "guard/root.h"
#include "util/fs.h"

/* The git directory of the working tree at `top`, inside the roots.  NULL: there is none. */
static char *find_git_dir(const struct al_repo *repo, const char *top)
{
    al_auto(al_freep) char *path = al_fs_join(top, ".git");
    al_auto(al_freep) char *named = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int top_fd = -1;
    al_auto(al_closep) int fd = -1;
    struct stat st;

    if (al_roots_open(repo->git->roots, top, O_PATH | O_DIRECTORY, &top_fd, &abs, NULL) < 0 ||
        fstatat(top_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL;
    free(al_take(&abs));
    named =
        S_ISREG(st.st_mode) ? al_git_read_pointer(top_fd, ".git", "gitdir: ", top) : al_take(&path);
    if (!named || al_roots_open(repo->git->roots, named, O_PATH | O_DIRECTORY, &fd, &abs, NULL) < 0)
        return NULL;
    return al_take(&abs);
}

/* Where its references are: in the git directory, unless this is a linked working tree. */
static char *find_common_dir(const struct al_repo *repo, const char *git_dir)
{
    al_auto(al_freep) char *named = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int dir_fd = open(git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    al_auto(al_closep) int fd = -1;

    if (dir_fd >= 0)
        named = al_git_read_pointer(dir_fd, "commondir", "", git_dir);
    if (!named || al_roots_open(repo->git->roots, named, O_PATH | O_DIRECTORY, &fd, &abs, NULL) < 0)
        return al_strdup(git_dir);
    return al_take(&abs);
}

char *al_git_nested_head(const struct al_repo *repo, const char *path)
{
    al_auto(al_freep) char *top = al_fs_join(repo->dir, path);
    al_auto(al_freep) char *git_dir = find_git_dir(repo, top);
    al_auto(al_freep) char *common_dir = git_dir ? find_common_dir(repo, git_dir) : NULL;
    const struct al_repo nested = {
        .git = repo->git,
        .git_dir = git_dir,
        .common_dir = common_dir,
        .git_fd = -1,
    };

    return git_dir ? al_repo_head(&nested) : NULL;
}
