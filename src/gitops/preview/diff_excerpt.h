// SPDX-License-Identifier: Apache-2.0
/* A diff as an excerpt for an approval. */
#ifndef AL_GITOPS_PREVIEW_DIFF_EXCERPT_H
#define AL_GITOPS_PREVIEW_DIFF_EXCERPT_H

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/repo/repo.h"

/** Append the diff to `out` as an excerpt for an approval. The objects it shows are verified
 * against their ids and added to budget->stable_read. */
int al_git_diff_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_run_limits *budget, struct al_str *out, struct al_error *err);

#endif
