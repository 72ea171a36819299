// SPDX-License-Identifier: Apache-2.0
/* Branches that remotes have. */
#ifndef AL_GITOPS_PLUMBING_REMOTE_BRANCHES_H
#define AL_GITOPS_PLUMBING_REMOTE_BRANCHES_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** Append the full names of the branches called `name` that remotes have: git makes a local one of
 * the only one there is. */
int al_git_remote_branches(const struct al_repo *repo, const char *name,
                           struct al_run_limits *budget, struct al_strv *out, struct al_error *err);

#endif
