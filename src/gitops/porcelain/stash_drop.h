// SPDX-License-Identifier: Apache-2.0
/* Drop a stash entry by its object id, while others may push and drop entries. */
#ifndef AL_GITOPS_PORCELAIN_STASH_DROP_H
#define AL_GITOPS_PORCELAIN_STASH_DROP_H

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/**
 * Drop an entry.  With the write lock held.
 *
 * git drops by index, which a push of a git that is not airlock's changes, and says of another
 * entry that it dropped this one.  So the line of the entry is taken out of the log here, while a
 * `git update-ref` holds the lock of the reference.  That git removes the lock when airlock is
 * killed.
 *
 * @param[out] ret_output  What `git stash drop` says.
 * @return 0; AL_ERR_EXECUTION, with the reason "not_found" when the entry is not there.
 */
int al_git_stash_drop(struct al_repo *repo, const char *oid, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err);

#endif
