// SPDX-License-Identifier: Apache-2.0
/* The list of branches, as git_branch answers it. */
#ifndef AL_TOOLSETS_EVERYDAY_BRANCH_LIST_H
#define AL_TOOLSETS_EVERYDAY_BRANCH_LIST_H

#include "gitops/reading/read_refs.h"
#include "tool/call.h"

/** List branches: with upstream, ahead and behind, last commit, whether they are merged into the
 * default branch, and which working tree has them. */
int al_branch_list(struct al_call *call, const struct al_refs_query *query,
                   struct al_result *result, struct al_error *err);

#endif
