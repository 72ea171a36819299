// SPDX-License-Identifier: Apache-2.0
/* Branches that are compared and landed, by name and commit. */
#ifndef AL_GITOPS_LANDING_BRANCHES_H
#define AL_GITOPS_LANDING_BRANCHES_H

#include <stddef.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

#define AL_HEADS "refs/heads/"

/** A branch of the repository. */
struct al_named_branch {
    char *ref; /**< full name */
    char *oid; /**< its commit */
};

void al_named_branch_clear(struct al_named_branch *branch);

/** The name without refs/heads/; borrowed. */
const char *al_named_branch_name(const struct al_named_branch *branch);

/** Check the name of a branch as an argument: the short name, so that a branch has one spelling. */
int al_landing_check_name(const char *param, const char *name, struct al_error *err);

/**
 * Find a branch by its short name.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_BRANCH_NOT_FOUND; AL_ERR_EXECUTION also for one that
 *         stands for another branch.
 */
int al_landing_find(const struct al_repo *repo, const char *name,
                    struct al_named_branch *ret_branch, struct al_error *err);

/** The short name of the branch that others land in: main, else origin's default branch, else
 * master.  AL_ERR_EXECUTION when there is none of them.  Caller frees. */
int al_landing_default(const struct al_repo *repo, char **ret_name, struct al_error *err);

/** The best merge base of two commits; *ret_base is NULL for unrelated histories.  Caller frees. */
int al_landing_base(const struct al_repo *repo, const char *one, const char *other,
                    struct al_run_limits *budget, char **ret_base, struct al_error *err);

/** How many commits `ours` and `theirs` have that the other one has not. */
int al_landing_count(const struct al_repo *repo, const char *ours, const char *theirs,
                     struct al_run_limits *budget, size_t *ret_ours, size_t *ret_theirs,
                     struct al_error *err);

#endif
