// SPDX-License-Identifier: Apache-2.0
/* Opening the working tree that uses a branch. */
#include <string.h>

#include "gitops/follow/branch_use.h"
#include "guard/text.h"
#include "util/fs.h"

static int outside(const char *top, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(top);

    return al_error_set(err, AL_ERR_SANDBOX,
                        "The branch is checked out in '%s', which is outside of the roots, so that "
                        "working tree cannot be brought along; the user can add it with --root",
                        word);
}

static int gone(const struct al_branch_user *user, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(user->top ? user->top : user->name);

    return al_error_set(err, AL_ERR_EXECUTION,
                        "The branch is checked out in the working tree '%s', which is not where "
                        "git says that it is; the user can look with git worktree list",
                        word);
}

/* What lies at the path may be another repository by now. */
static bool is_meant(const struct al_repo *repo, const struct al_branch_user *user,
                     const struct al_repo *opened)
{
    al_auto(al_freep) char *below = user->name ? al_asprintf("worktrees/%s", user->name) : NULL;
    al_auto(al_freep) char *git_dir =
        below ? al_fs_join(repo->at.common_dir, below) : al_strdup(repo->at.common_dir);

    return !strcmp(opened->at.common_dir, repo->at.common_dir) &&
           !strcmp(opened->at.git_dir, git_dir);
}

int al_branch_open_user(const struct al_repo *repo, const struct al_branch_user *user,
                        struct al_run_limits *budget, struct al_repo **ret_repo,
                        struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_repo *opened = NULL;
    int r;

    if (!user->top)
        return gone(user, err);
    r = al_repo_open_at(repo->at.git, repo->at.common_dir, user->top, budget, &opened, &why);
    if (r == AL_ERR_SANDBOX)
        return outside(user->top, err);
    if (r == AL_ERR_EXECUTION || (r == 0 && !is_meant(repo, user, opened))) {
        al_repo_free(opened);
        return gone(user, err);
    }
    if (r < 0 && err) {
        al_error_clear(err);
        *err = why;
        why = AL_ERROR_INIT;
    }
    if (r == 0)
        *ret_repo = opened;
    return r;
}
