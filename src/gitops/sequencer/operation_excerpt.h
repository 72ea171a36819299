// SPDX-License-Identifier: Apache-2.0
/* What a commit concludes: a merge, a rebase, a cherry-pick, a revert. */
#ifndef AL_GITOPS_SEQUENCER_OPERATION_EXCERPT_H
#define AL_GITOPS_SEQUENCER_OPERATION_EXCERPT_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** What is in progress and goes on with a commit, with the commits it is about;
 * nothing where nothing is. */
int al_git_operation_excerpt(const struct al_repo *repo, struct al_run_limits *budget,
                             struct al_str *out, struct al_error *err);

#endif
