// SPDX-License-Identifier: Apache-2.0
/* `git diff` as a patch that a program reads. */
#ifndef AL_GITOPS_DIFF_DIFF_STREAM_H
#define AL_GITOPS_DIFF_DIFF_STREAM_H

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/repo/repo.h"

struct al_hunks;

/** `git diff` as a patch; `name_only` and `stat` of the options do not count.  Its first
 * `max_bytes` are taken as they come, and its hunks->files counted in all of the diff.  One git
 * child, and a second for the count when the patch is cut. */
int al_git_read_diff(const struct al_repo *repo, const struct al_diff_options *options,
                     size_t max_bytes, struct al_run_limits *budget, struct al_hunks *hunks,
                     struct al_error *err);

#endif
