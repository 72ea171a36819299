// SPDX-License-Identifier: Apache-2.0
/*
 * What tools with structured results ask of git: facts instead of text.
 *
 * All of them run in `repo` and take their time from `budget`.  `max_bytes` bounds what is kept of
 * names and text; what was cut says so in its own `truncated`.
 */
#ifndef AL_GITOPS_QUERIES_H
#define AL_GITOPS_QUERIES_H

#include "gitops/porcelain.h"
#include "gitops/repo.h"

/** status.c: one git child.  `branch` is "HEAD" where HEAD is on none.  The caller clears
 * *ret_status. */
int al_git_read_status(const struct al_repo *repo, size_t max_bytes, struct al_budget *budget,
                       struct al_worktree *ret_status, struct al_error *err);

#endif
