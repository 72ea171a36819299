// SPDX-License-Identifier: Apache-2.0
/*
 * The branch that is made with a worktree.
 *
 * An add may be killed before its branch is made, and somebody else may make one of that name at
 * that commit afterwards.  So the branch says whose it is: the entry of its reflog with which it
 * begins names the directory of the worktree, which is in the record as well, and as long as that
 * is the last entry nobody has used the branch.
 */
#ifndef AL_GITOPS_WORKTREE_BRANCH_H
#define AL_GITOPS_WORKTREE_BRANCH_H

#include "gitops/repo/repo.h"
#include "gitops/worktree/record.h"
#include "util/error.h"

/** Make the branch of a record.  An error if there is one of that name. */
int al_worktree_make_branch(const struct al_repo *repo, const char *name,
                            const struct al_worktree_record *record, struct al_run_limits *budget,
                            struct al_error *err);

/** Delete it again, unless nobody can tell that it was made for this record, or somebody has moved
 * it or has it checked out.  Errors are ignored. */
void al_worktree_unmake_branch(const struct al_repo *repo, const char *name,
                               const struct al_worktree_record *record);

#endif
