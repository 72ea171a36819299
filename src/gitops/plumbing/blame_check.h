// SPDX-License-Identifier: Apache-2.0
/* A check that git blame reads no file outside the roots. */
#ifndef AL_GITOPS_PLUMBING_BLAME_CHECK_H
#define AL_GITOPS_PLUMBING_BLAME_CHECK_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** AL_ERR_SANDBOX when blame.ignoreRevsFile of the repository leads outside the roots. */
int al_git_blame_check(const struct al_repo *repo, struct al_error *err);

#endif
