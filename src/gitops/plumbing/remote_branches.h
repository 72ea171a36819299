// SPDX-License-Identifier: Apache-2.0
/* Remote-tracking branches by their short name. */
#ifndef AL_GITOPS_PLUMBING_REMOTE_BRANCHES_H
#define AL_GITOPS_PLUMBING_REMOTE_BRANCHES_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** Append the full names of the remote-tracking branches called `name`.  If there is exactly one,
 * git checkout creates a local branch from it. */
int al_git_remote_branches(const struct al_repo *repo, const char *name,
                           struct al_run_limits *budget, struct al_strv *out, struct al_error *err);

#endif
