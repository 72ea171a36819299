// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/submodules.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/locate.h"
#include "gitops/worktree/beside.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

static char *child(const struct al_worktree_submodule *submodule, bool of_dir)
{
    return al_asprintf("%s/", of_dir ? submodule->dir : submodule->path);
}

static bool is_same_dir(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Whether it is initialised in the working tree that is there: its `.git` file names the repository
 * that it has to have.  A reason: it is, but not so; NULL with *ret_is false: it is not. */
static const char *find_initialised(const struct al_repo *from,
                                    const struct al_worktree_submodule *submodule, bool *ret_is)
{
    al_auto(al_closep) int top_fd = -1;
    al_auto(al_closep) int fd = -1;
    al_auto(al_freep) char *source = al_worktree_submodule_source(from, submodule->dir);
    al_auto(al_freep) char *top = al_fs_join(from->at.top, submodule->path);
    al_auto(al_freep) char *named = NULL;
    struct stat st;

    *ret_is = false;
    if (al_location_open_top(&from->at, &top_fd, NULL) < 0)
        return NULL;
    fd = al_nofollow_open(top_fd, submodule->path, O_PATH | O_DIRECTORY);
    if (fd < 0 || fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL;
    if (!S_ISREG(st.st_mode))
        return "its git directory is in its working tree; 'git submodule absorbgitdirs' moves it";
    named = al_git_read_pointer(fd, ".git", "gitdir: ", top);
    if (!named || !source || !is_same_dir(named, source))
        return "its .git file does not name the repository below modules/ that its name means";
    *ret_is = true;
    return NULL;
}

static void add_missing(struct al_worktree_submodules_made *made,
                        const struct al_worktree_submodule *submodule, const char *reason)
{
    al_auto(al_freep) char *path = al_text_sanitize_line(submodule->path);

    al_strv_addf(&made->missing, "'%s': %s", path, reason);
}

/* Only the end of the call's time ends the making. */
static bool is_over(int r)
{
    return r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED;
}

/* Make one, and list the submodules that it has. */
static int make_next(const struct al_worktree_half *half, size_t at, size_t *files_left,
                     struct al_run_limits *budget, struct al_worktree_submodules *list,
                     struct al_worktree_submodules_made *made, struct al_error *err)
{
    const struct al_worktree_submodule *submodule = &list->items[at];
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *path = child(submodule, false);
    al_auto(al_freep) char *dir = child(submodule, true);
    bool is_initialised;
    const char *reason = find_initialised(half->repo, submodule, &is_initialised);
    int r;

    if (!is_initialised) {
        if (reason)
            add_missing(made, submodule, reason);
        return 0;
    }
    r = al_worktree_make_submodule(half, submodule, files_left, budget, &why);
    if (is_over(r))
        return al_error_set(err, r, "%s", why.message);
    if (r < 0) {
        add_missing(made, submodule, why.message);
        return 0;
    }
    made->count++;
    r = al_worktree_open_made(half, submodule, budget, &beside, err);
    return r < 0 ? r
                 : al_worktree_list_submodules(beside.repo, path, dir, budget, list, &made->missing,
                                               err);
}

int al_worktree_make_submodules(const struct al_worktree_half *half, struct al_run_limits *budget,
                                struct al_worktree_submodules_made *made, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules list =
        AL_WORKTREE_SUBMODULES_INIT;
    size_t files_left = AL_WORKTREE_SUBMODULE_FILES_MAX;
    int r = al_worktree_open_beside(half->repo, half->top, NULL, budget, &beside, err);

    if (r == 0)
        r = al_worktree_list_submodules(beside.repo, "", "", budget, &list, &made->missing, err);
    for (size_t i = 0; i < list.count && r == 0; i++)
        r = make_next(half, i, &files_left, budget, &list, made, err);
    return r;
}
