// SPDX-License-Identifier: Apache-2.0
/* `git restore`, and `git checkout -- paths`. */
#ifndef AL_GITOPS_PORCELAIN_RESTORE_H
#define AL_GITOPS_PORCELAIN_RESTORE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** The choices of git_restore; at least one of the two is set. */
struct al_restore_options {
    const struct al_strv *paths;
    bool staged, worktree;
};

/** Refuse when content would be written through a configured filter driver. */
int al_git_restore_check(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_run_limits *budget, struct al_error *err);

/** `git restore`; a failing git is an error. */
int al_git_restore(struct al_repo *repo, const struct al_restore_options *options, size_t max_bytes,
                   struct al_run_limits *budget, struct al_git_output *ret_output,
                   struct al_error *err);

/** Whether anything of these paths is staged. */
int al_git_has_staged(const struct al_repo *repo, const struct al_strv *paths,
                      struct al_run_limits *budget, bool *ret_staged, struct al_error *err);

/** `git checkout -- paths`: from the index, which stays as it is. */
int al_git_checkout_paths(struct al_repo *repo, const struct al_strv *paths, size_t max_bytes,
                          struct al_run_limits *budget, struct al_git_output *ret_output,
                          struct al_error *err);

#endif
