// SPDX-License-Identifier: Apache-2.0
/*
 * Linked worktrees that are moved aside whole, and come back whole: the directory with all that is
 * in it, ignored files too, and the administrative directory with HEAD, index, own references,
 * logs, submodules and the state of an operation.
 *
 * What only the worktree reached, git could collect meanwhile.  So its entry has a pack of that
 * (`kept-<hash>.pack`) beside the two directories, and the branch that it had checked out is noted:
 *
 *   is <id>               which worktree it is, see al_worktree_identity()
 *   branch <full name>    missing: HEAD was detached
 *   at <id>               where the branch was; missing: it was unborn
 *
 * Source: git-worktree(1), gitrepository-layout(5) worktrees/, git-pack-objects(1) --revs.
 */
#ifndef AL_HISTORY_WORKTREE_H
#define AL_HISTORY_WORKTREE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/place.h"
#include "util/error.h"

/** Which worktree it is: the same after it came back, and another one if it was made again under
 * its name.  Caller frees; NULL: there is none. */
char *al_worktree_identity(const struct al_worktree_found *found);

/**
 * A digest, in hex, of the work in a worktree: HEAD, what is staged, changed and untracked, an
 * operation in progress, its submodules.  What git ignores does not count.  "-" when it cannot be
 * looked at.
 *
 * @return 0; AL_ERR_TIMEOUT or AL_ERR_CANCELLED.
 */
int al_worktree_work(const struct al_repo *repo, const struct al_worktree_found *found,
                     struct al_run_limits *budget, char ret_hex[65], struct al_error *err);

/**
 * Move a worktree aside.  With the repository's write lock held.
 *
 * @param keeps  It may come back; false: then it is removed for good.
 * @return 0; an error, and everything is where it was.
 */
int al_worktree_put_aside(const struct al_repo *repo, const struct al_worktree_place *place,
                          const struct al_worktree_found *found, const char *name, bool keeps,
                          struct al_run_limits *budget, struct al_error *err);

/**
 * Look whether a worktree is aside.
 *
 * @param id          Its identity.
 * @param ret_branch  The full name of the branch that it had checked out; NULL: none.  Caller
 *                    frees.
 * @return 0; AL_ERR_NOT_FOUND.
 */
int al_worktree_find_aside(const struct al_repo *repo, const struct al_worktree_place *place,
                           const char *name, const char *id, char **ret_branch);

/**
 * Move a worktree back, with its branch if that is gone.  With the write lock held.
 *
 * @return 0; AL_ERR_NOT_FOUND; an error that names what is in the way, and it is still aside.
 */
int al_worktree_bring_back(const struct al_repo *repo, const char *name, const char *id,
                           struct al_run_limits *budget, struct al_error *err);

/** Clear up what processes left that were killed, see al_aside_tidy(): when it is another
 * repository than the last time in this process, or `again`.  `ret_kept` may be NULL. */
void al_worktree_tidy(const struct al_repo *repo, bool again, struct al_strv *ret_kept);

#endif
