// SPDX-License-Identifier: Apache-2.0
/*
 * A squash merge that is known to conflict.
 *
 * Source: git-merge(1), "--squash".
 */
#ifndef AL_GITOPS_REPLAY_SQUASH_H
#define AL_GITOPS_REPLAY_SQUASH_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** Run `git merge --squash` of a commit, given by its id, into its conflicts. */
int al_git_squash_really(struct al_repo *repo, const char *oid, size_t max_bytes,
                         struct al_run_limits *budget, struct al_error *err);

#endif
