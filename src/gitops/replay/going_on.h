// SPDX-License-Identifier: Apache-2.0
/*
 * Going on with a rebase, a cherry-pick or a revert: files of the user in the way of what is still
 * to come, which only the merges tell.
 */
#ifndef AL_GITOPS_REPLAY_GOING_ON_H
#define AL_GITOPS_REPLAY_GOING_ON_H

#include "gitops/repo/repo.h"

/**
 * Fail as al_overwrite_check() does if a commit that is left would write over an untracked file.
 * The commits are merged in memory, up to the first conflict.
 *
 * @param skips  The commit at which it stopped is left out.  Otherwise nothing is in conflict.
 */
int al_going_on_check(const struct al_repo *repo, bool skips, struct al_run_limits *budget,
                      struct al_error *err);

#endif
