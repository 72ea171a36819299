// SPDX-License-Identifier: Apache-2.0
/*
 * A commit that is made aside, and then becomes HEAD if HEAD is still where it was.
 *
 * `git commit` takes for the parent whatever HEAD is at when it starts, while the index it commits
 * was chosen before: a commit that somebody made in between would be reverted.  So git commits in a
 * git directory of our own, which has the HEAD that the index was chosen for and shares everything
 * else with the repository.  HEAD itself is then moved by compare-and-swap.
 *
 * Source: git-worktree(1) "DETAILS" (commondir, refs/worktree), git-update-ref(1).
 */
#ifndef AL_GITOPS_PORCELAIN_COMMIT_ASIDE_H
#define AL_GITOPS_PORCELAIN_COMMIT_ASIDE_H

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** Zero-initialised there is none. */
struct al_commit_aside {
    const struct al_repo *repo; /**< borrowed */
    struct al_location at;      /**< where git commits; borrows from `repo` */
    char *dir;                  /**< its git directory; private */
    char *head;                 /**< private */
};

/** Make the directory.  Starts no process.
 *
 * @param head  The commit that HEAD is at; "" on an unborn branch.
 */
int al_commit_aside_open(const struct al_repo *repo, const char *head,
                         struct al_commit_aside *ret_aside, struct al_error *err);

void al_commit_aside_clear(struct al_commit_aside *aside);

/**
 * Move HEAD to the commit that git made, and remove what a merge had left for it.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_CONFLICT when HEAD is not at `head` any more, and then
 *         nothing was changed.
 */
int al_commit_aside_accept(struct al_commit_aside *aside, struct al_run_limits *budget,
                           struct al_error *err);

/** Put the name of the branch into what git said of the commit. */
void al_commit_aside_name_branch(const struct al_commit_aside *aside, struct al_str *said);

#endif
