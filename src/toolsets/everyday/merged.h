// SPDX-License-Identifier: Apache-2.0
/* The answer about a merge, for git_merge and git_pull. */
#ifndef AL_TOOLSETS_EVERYDAY_MERGED_H
#define AL_TOOLSETS_EVERYDAY_MERGED_H

#include "gitops/sequencer/merge.h"
#include "tool/call.h"

/**
 * The result of a merge.
 *
 * @param name   What was merged, as the agent names it.
 * @param lines  Whole lines that come first; NULL: none.
 */
int al_merged_answer(struct al_call *call, const char *name, const struct al_merge_outcome *outcome,
                     const char *lines, struct al_result *result, struct al_error *err);

#endif
