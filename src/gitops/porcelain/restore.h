// SPDX-License-Identifier: Apache-2.0
/* Run `git restore`, and `git checkout -- paths`. */
#ifndef AL_GITOPS_PORCELAIN_RESTORE_H
#define AL_GITOPS_PORCELAIN_RESTORE_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** Options of `git restore`. At least one of `staged` and `worktree` is set. */
struct al_restore_options {
    const struct al_strv *paths;
    bool staged, worktree;
    const char *source; /**< the commit to restore from; NULL: the index, or HEAD with `staged` */
};

/** Fail if content would be written through a configured filter driver. */
int al_git_restore_check(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_run_limits *budget, struct al_error *err);

/** Run `git restore`. A non-zero exit code is an error. */
int al_git_restore(struct al_repo *repo, const struct al_restore_options *options, size_t max_bytes,
                   struct al_run_limits *budget, struct al_git_output *ret_output,
                   struct al_error *err);

/** Test whether any of these paths has staged changes. */
int al_git_has_staged(const struct al_repo *repo, const struct al_strv *paths,
                      struct al_run_limits *budget, bool *ret_staged, struct al_error *err);

/** Run `git checkout -- paths`: restore files from the index, which stays as it is. */
int al_git_checkout_paths(struct al_repo *repo, const struct al_strv *paths, size_t max_bytes,
                          struct al_run_limits *budget, struct al_git_output *ret_output,
                          struct al_error *err);

/* --- Reset --- */

/* Run `git reset`. */

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
