// SPDX-License-Identifier: Apache-2.0
/* `git checkout <commit> -- paths`. */
#ifndef AL_GITOPS_PORCELAIN_CHECKOUT_FROM_H
#define AL_GITOPS_PORCELAIN_CHECKOUT_FROM_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** What to put back from a commit, into the index and the working tree. */
struct al_checkout_from {
    const char *target;
    const struct al_strv *paths;
    bool force; /**< files in conflict too */
};

/** Refuse a target that does not exist (AL_CODE_BRANCH_NOT_FOUND), and content that would be
 * written through a configured filter driver. */
int al_git_checkout_from_check(const struct al_repo *repo, const struct al_checkout_from *from,
                               struct al_run_limits *budget, struct al_error *err);

/** `git checkout <target> -- paths`.  `ret_files` are the files it had to write, each with a NUL
 * behind it; the caller sets its cap and clears it. */
int al_git_checkout_from(struct al_repo *repo, const struct al_checkout_from *from,
                         struct al_run_limits *budget, struct al_buffer *ret_files,
                         struct al_error *err);

#endif
