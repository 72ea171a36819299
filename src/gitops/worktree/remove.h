// SPDX-License-Identifier: Apache-2.0
/*
 * Removing a linked worktree, or what is left of one.
 *
 * git is not asked: it would refuse for a changed file, and stop half way at a file that it cannot
 * remove.  Everything is removed by descriptor, below airlock's directory and below worktrees/ of
 * the common directory, and no link is followed.
 *
 * Source: git-worktree(1) "remove", gitrepository-layout(5).
 */
#ifndef AL_GITOPS_WORKTREE_REMOVE_H
#define AL_GITOPS_WORKTREE_REMOVE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/worktree/find.h"
#include "gitops/worktree/place.h"
#include "gitops/worktree/record.h"
#include "util/error.h"

/**
 * Check that a worktree may be removed: it is there, below the directory, and not locked.
 *
 * @param repo  A call's repository; its own working tree may be the one.
 */
int al_worktree_check_removable(const struct al_worktree_place *place,
                                const struct al_worktree_found *found, const char *name,
                                struct al_error *err);

/**
 * Remove the files, then the administrative directory, then the record.  With the repository's
 * write lock held.
 *
 * @return 0; AL_ERR_EXECUTION when something stayed: what is left is found again by its name.
 */
int al_worktree_remove(const struct al_repo *repo, const struct al_worktree_place *place,
                       const struct al_worktree_found *found, const char *name,
                       struct al_error *err);

/**
 * Remove what an `add` that did not come to its end left behind: files, administrative directory,
 * record, and the branch that was made for it, if it is still where it was made.
 *
 * With the repository's write lock held, and limits of its own: it has to come to its end.
 */
void al_worktree_discard(const struct al_repo *repo, const struct al_worktree_place *place,
                         const char *name, const struct al_worktree_record *record);

/** Test whether airlock was killed while it made a worktree, so that something may be in the way
 * that the next one removes. */
bool al_worktree_has_unfinished(const struct al_repo *repo);

/** al_worktree_discard() for every record of a worktree that was not finished, because airlock was
 * killed. */
void al_worktree_discard_unfinished(const struct al_repo *repo,
                                    const struct al_worktree_place *place);

#endif
