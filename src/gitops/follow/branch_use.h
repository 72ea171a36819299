// SPDX-License-Identifier: Apache-2.0
/*
 * Branches that a working tree uses: git itself does not move them from elsewhere.
 *
 *   HEAD                                          checked out, also a branch without commits
 *   rebase-merge/head-name, rebase-apply/head-name, rebase-merge/update-refs
 *                                                 being rebased; HEAD is detached meanwhile
 *   BISECT_LOG with BISECT_START                  being bisected; likewise
 *
 * Source: gitrepository-layout(5), git-worktree(1), git-branch(1) "--force", git-rebase(1)
 * "--update-refs", git-bisect(1).
 */
#ifndef AL_GITOPS_FOLLOW_BRANCH_USE_H
#define AL_GITOPS_FOLLOW_BRANCH_USE_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/repo/repo.h"
#include "util/error.h"

/** How a working tree uses a branch. */
enum al_branch_use {
    AL_BRANCH_UNUSED,
    AL_BRANCH_CHECKED_OUT,
    AL_BRANCH_REBASED,
    AL_BRANCH_BISECTED
};

/** A working tree that uses a branch. */
struct al_branch_user {
    enum al_branch_use use;
    bool is_own; /**< the working tree of the repository that was asked */
    char *name;  /**< of its directory in `worktrees`; NULL: the main working tree */
    char *top;   /**< where it says that it is; NULL: it does not say.  Not verified */
};

/** Those of one branch: the own one first, then the main one. */
struct al_branch_users {
    struct al_branch_user *items;
    size_t count;
};

void al_branch_users_clear(struct al_branch_users *users);

/** Find the working trees that use a branch, by its full name.  The HEAD of a bare repository is
 * nobody's. */
int al_branch_find_users(const struct al_repo *repo, const char *ref,
                         struct al_branch_users *ret_users, struct al_error *err);

/**
 * Open another working tree of the repository, and verify that it is the one.
 *
 * @return 0; AL_ERR_SANDBOX naming it if it is not in the roots; AL_ERR_EXECUTION if it is gone.
 *         The caller frees *ret_repo with al_repo_free().
 */
int al_branch_open_user(const struct al_repo *repo, const struct al_branch_user *user,
                        struct al_run_limits *budget, struct al_repo **ret_repo,
                        struct al_error *err);

#endif
