// SPDX-License-Identifier: Apache-2.0
/* The operation that a commit concludes or continues: a merge, a cherry-pick or a revert. */
#ifndef AL_GITOPS_SEQUENCER_OPERATION_EXCERPT_H
#define AL_GITOPS_SEQUENCER_OPERATION_EXCERPT_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** Append an excerpt for an approval: the operation in progress and the commits it brings in.
 * Appends nothing when none of these is in progress. */
int al_git_operation_excerpt(const struct al_repo *repo, struct al_run_limits *budget,
                             struct al_str *out, struct al_error *err);

#endif
