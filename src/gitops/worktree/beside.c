// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/beside.h"

#include <string.h>

#include "gitops/git_dir.h"
#include "gitops/layer.h"
#include "gitops/repo/git.h"
#include "util/fs.h"

void al_worktree_beside_clear(struct al_worktree_beside *beside)
{
    al_repo_free(beside->repo);
    al_git_free(beside->git);
    al_roots_clear(&beside->roots);
    *beside = AL_WORKTREE_BESIDE_INIT;
}

/* The git directory of a main working tree is its own; that of linked ones is the common directory.
 */
static int add_common_dir(const struct al_repo *repo, const char *top, struct al_roots *roots,
                          struct al_error *err)
{
    const char *common_dir = repo->at.common_dir;
    bool own = !strcmp(repo->at.git_dir, common_dir) && !strcmp(repo->at.top, top);

    if (al_roots_find(roots, common_dir))
        return 0;
    return al_roots_add_git_dir(roots, common_dir, own ? &roots->items[0] : NULL,
                                &repo->at.git->forbidden, repo->at.git->home, err);
}

/* Whether the roots are what was named.  A root is opened by its path, and a link could have come
 * into its place since it was looked at. */
static int check_paths(const struct al_roots *roots, const char *top, const char *also,
                       struct al_error *err)
{
    if (!al_roots_find(roots, top) || (also && !al_roots_find(roots, also)))
        return al_error_set(err, AL_ERR_SANDBOX,
                            "Path outside sandbox: a worktree was replaced by a link");
    return 0;
}

/* Move what was opened to the caller. */
static int hand_over(struct al_worktree_beside *beside, struct al_worktree_beside *ret_beside)
{
    /* The structs that were moved point to one another. */
    *ret_beside = *beside;
    ret_beside->git->roots = &ret_beside->roots;
    *beside = AL_WORKTREE_BESIDE_INIT;
    return 0;
}

int al_worktree_open_beside(const struct al_repo *repo, const char *top, const char *also,
                            struct al_run_limits *budget, struct al_worktree_beside *ret_beside,
                            struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    const struct al_git *git = repo->at.git;
    int r;

    beside.roots.allow_absolute = true;
    if (strcmp(top, repo->at.top) != 0 && !al_git_dir_is_worktree(top, repo->at.common_dir))
        return al_error_set(err, AL_ERR_SANDBOX,
                            "Path outside sandbox: it is no working tree of this repository");
    r = al_roots_add(&beside.roots, top, &git->forbidden, git->home, err);
    if (r == 0 && also)
        r = al_roots_add(&beside.roots, also, &git->forbidden, git->home, err);
    if (r == 0)
        r = check_paths(&beside.roots, top, also, err);
    if (r == 0)
        r = add_common_dir(repo, top, &beside.roots, err);
    if (r == 0)
        r = al_git_new_beside(git, &beside.roots, &beside.git, err);
    if (r == 0)
        r = al_repo_open(beside.git, beside.roots.items[0].path, ".", budget, &beside.repo, err);
    if (r == 0 && strcmp(beside.repo->at.common_dir, repo->at.common_dir) != 0)
        r = al_error_set(err, AL_ERR_SANDBOX,
                         "Path outside sandbox: it belongs to another repository");
    return r < 0 ? r : hand_over(&beside, ret_beside);
}

int al_worktree_open_submodule(const struct al_repo *repo, const char *top, const char *git_dir,
                               struct al_run_limits *budget, struct al_worktree_beside *ret_beside,
                               struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    const struct al_git *git = repo->at.git;
    const char *first = top ? top : git_dir;
    int r;

    beside.roots.allow_absolute = true;
    r = al_roots_add(&beside.roots, first, &git->forbidden, git->home, err);
    if (r == 0)
        r = check_paths(&beside.roots, first, NULL, err);
    if (r == 0 && top && !al_fs_beneath(top, git_dir))
        r = al_roots_add_git_dir(&beside.roots, git_dir, &beside.roots.items[0], &git->forbidden,
                                 git->home, err);
    if (r == 0)
        r = al_git_new_beside(git, &beside.roots, &beside.git, err);
    if (r == 0)
        r = al_repo_open_at(beside.git, first, ".", budget, &beside.repo, err);
    if (r == 0 && strcmp(beside.repo->at.git_dir, git_dir) != 0)
        r = al_error_set(err, AL_ERR_SANDBOX, "Path outside sandbox: a submodule was replaced");
    return r < 0 ? r : hand_over(&beside, ret_beside);
}
