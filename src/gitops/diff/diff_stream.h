// SPDX-License-Identifier: Apache-2.0
/* Run `git diff` and parse the patch. */
#ifndef AL_GITOPS_DIFF_DIFF_STREAM_H
#define AL_GITOPS_DIFF_DIFF_STREAM_H

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/repo/repo.h"

struct al_hunks;

/**
 * Run `git diff` and parse at most `max_bytes` of the patch into `hunks`.  `name_only` and `stat`
 * of the options are ignored.
 *
 * `hunks->files` counts the files of the whole diff: when the patch was cut, a second git child
 * counts them.
 */
int al_git_read_diff(const struct al_repo *repo, const struct al_diff_options *options,
                     size_t max_bytes, struct al_run_limits *budget, struct al_hunks *hunks,
                     struct al_error *err);

#endif
