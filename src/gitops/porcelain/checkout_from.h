// SPDX-License-Identifier: Apache-2.0
/* Run `git checkout <commit> -- paths`. */
#ifndef AL_GITOPS_PORCELAIN_CHECKOUT_FROM_H
#define AL_GITOPS_PORCELAIN_CHECKOUT_FROM_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** Paths to restore from a commit, in the index and the working tree. */
struct al_checkout_from {
    const char *target;
    const struct al_strv *paths;
    bool force; /**< restore conflicted files too */
};

/** Fail if the target does not exist (AL_CODE_BRANCH_NOT_FOUND), or if content would be written
 * through a configured filter driver. */
int al_git_checkout_from_check(const struct al_repo *repo, const struct al_checkout_from *from,
                               struct al_run_limits *budget, struct al_error *err);

/** Run `git checkout <target> -- paths`. `ret_files` gets the files that had to be written, each
 * followed by a NUL; the caller sets its limit and clears it. */
int al_git_checkout_from(struct al_repo *repo, const struct al_checkout_from *from,
                         struct al_run_limits *budget, struct al_buffer *ret_files,
                         struct al_error *err);

#endif
