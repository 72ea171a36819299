// SPDX-License-Identifier: Apache-2.0
/* Run `git status`. */
#ifndef AL_GITOPS_PORCELAIN_STATUS_H
#define AL_GITOPS_PORCELAIN_STATUS_H

#include <stdbool.h>

#include "gitops/porcelain/parse.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** Options of `git status`. */
struct al_status_options {
    bool porcelain, branch, untracked;
};

/** Run `git status`. A non-zero exit code is an error. */
int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err);

/**
 * Read the status with one git child.  `branch` is "HEAD" when HEAD is on no branch.  The caller
 * clears `status`, after a failure too; names that were passed before a failure must be ignored.
 */
int al_git_read_status(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                       struct al_worktree *status, struct al_error *err);

#endif
