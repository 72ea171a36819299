// SPDX-License-Identifier: Apache-2.0
/* `git status`. */
#ifndef AL_GITOPS_PORCELAIN_STATUS_H
#define AL_GITOPS_PORCELAIN_STATUS_H

#include <stdbool.h>

#include "gitops/porcelain/parse.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** The choices of git_status. */
struct al_status_options {
    bool porcelain, branch, untracked;
};

/** `git status`; a failing git is an error. */
int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err);

/** One git child.  `branch` is "HEAD" where HEAD is on none.  Caller clears `status`,
 * after a failure too; what was taken until a failure, here and below, counts for nothing. */
int al_git_read_status(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                       struct al_worktree *status, struct al_error *err);

#endif
