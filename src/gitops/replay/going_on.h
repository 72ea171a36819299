// SPDX-License-Identifier: Apache-2.0
/*
 * Going on with a rebase, a cherry-pick or a revert: files of the user at places that only the
 * merges tell which are still to come.  What the commits themselves write is checked by
 * al_git_resume().
 */
#ifndef AL_GITOPS_REPLAY_GOING_ON_H
#define AL_GITOPS_REPLAY_GOING_ON_H

#include "gitops/repo/repo.h"

/**
 * Fail as al_overwrite_check() does if a commit that is left would write over an untracked file.
 * The commits are merged in memory, up to the first conflict, unless they only change files that
 * are there.
 *
 * @param skips  The commit at which it stopped is left out.  Otherwise nothing is in conflict.
 */
int al_going_on_check(const struct al_repo *repo, bool skips, struct al_run_limits *budget,
                      struct al_error *err);

/** The same for a `git rebase` that begins, with all that HEAD's commits write.
 *
 * @param onto  The id of the upstream's commit.
 */
int al_going_on_check_rebase(const struct al_repo *repo, const char *onto,
                             struct al_run_limits *budget, struct al_error *err);

#endif
