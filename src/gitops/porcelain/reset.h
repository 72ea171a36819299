// SPDX-License-Identifier: Apache-2.0
/* Run `git reset`. */
#ifndef AL_GITOPS_PORCELAIN_RESET_H
#define AL_GITOPS_PORCELAIN_RESET_H

#include "gitops/repo/repo.h"

/** What else goes to the commit: see git-reset(1). */
enum al_reset_mode {
    AL_RESET_MIXED, /**< the index */
    AL_RESET_SOFT,  /**< nothing */
    AL_RESET_KEEP, /**< the index and the files, but for local changes, which must not be in the way
                    */
    AL_RESET_HARD, /**< the index and the files */
};

/** Fail if content would be written through a configured filter driver, or is missing. */
int al_git_reset_check(const struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                       struct al_run_limits *budget, struct al_error *err);

/** Move the branch of HEAD to a commit, a full id. */
int al_git_reset(struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                 struct al_run_limits *budget, struct al_error *err);

#endif
