// SPDX-License-Identifier: Apache-2.0
/*
 * What may be removed, and removing what an `add` has left that did not come to its end.  A
 * worktree itself is moved aside (history/worktree.h).
 *
 * Everything is removed by descriptor, below airlock's directory and below worktrees/ of the common
 * directory, and no link is followed.
 *
 * Source: git-worktree(1) "remove", gitrepository-layout(5).
 */
#ifndef AL_GITOPS_WORKTREE_REMOVE_H
#define AL_GITOPS_WORKTREE_REMOVE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/worktree/find.h"
#include "util/error.h"

/* --- Branch --- */

/*
 * The branch that is made with a worktree.
 *
 * An add may be killed before its branch is made, and somebody else may make one of that name at
 * that commit afterwards.  So the branch says whose it is: the entry of its reflog with which it
 * begins names the directory of the worktree, which is in the record as well, and as long as that
 * is the last entry nobody has used the branch.
 */

/** Make the branch of a record.  An error if there is one of that name. */
int al_worktree_make_branch(const struct al_repo *repo, const char *name,
                            const struct al_worktree_record *record, struct al_run_limits *budget,
                            struct al_error *err);

/* --- Remove --- */

/**
 * Check that a worktree may be removed: it is there, below the directory, and not locked.
 *
 * @param repo  A call's repository; its own working tree may be the one.
 */
int al_worktree_check_removable(const struct al_worktree_place *place,
                                const struct al_worktree_found *found, const char *name,
                                struct al_error *err);

/** Forget airlock's record of a worktree that is not at its place any more, and that it was a root.
 */
void al_worktree_forget(const struct al_repo *repo, const char *name);

/**
 * Remove what an `add` that did not come to its end left behind: files, administrative directory,
 * record, and the branch that was made for it, if it is still where it was made.
 *
 * With the repository's write lock held, and limits of its own: it has to come to its end.
 */
void al_worktree_discard(const struct al_repo *repo, const struct al_worktree_place *place,
                         const char *name, const struct al_worktree_record *record);

/**
 * al_worktree_discard() for every record of a worktree that was not finished, because airlock was
 * killed.
 *
 * @param place  NULL: nothing is removed yet.
 * @return whether there is one, so that something may be in the way.
 */
bool al_worktree_discard_unfinished(const struct al_repo *repo,
                                    const struct al_worktree_place *place);

/* --- Lock --- */

/* Locking a linked worktree, so that it is neither removed nor pruned.
 *
 * Source: git-worktree(1) "lock", gitrepository-layout(5) worktrees/<id>/locked. */

/**
 * Lock a worktree, or unlock it.
 *
 * @param reason  One line; NULL: none.
 * @param locks   False: unlock it.
 * @return 0; AL_ERR_EXECUTION when it is locked already, or is not.
 */
int al_worktree_set_lock(const struct al_repo *repo, const struct al_worktree_found *found,
                         const char *name, bool locks, const char *reason, struct al_error *err);

#endif
