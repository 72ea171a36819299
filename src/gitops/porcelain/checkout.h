// SPDX-License-Identifier: Apache-2.0
/* `git checkout`. */
#ifndef AL_GITOPS_PORCELAIN_CHECKOUT_H
#define AL_GITOPS_PORCELAIN_CHECKOUT_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** Where to go: the first of the three that is set. */
struct al_checkout_options {
    const char *create, *branch, *commit;
    bool force; /**< local changes are lost */
};

/** Refuse when going to this branch or commit would write content through a configured filter
 * driver. */
int al_git_checkout_check(const struct al_repo *repo, const struct al_checkout_options *options,
                          struct al_run_limits *budget, struct al_error *err);

/** `git checkout`; a failing git is an error. */
int al_git_checkout(struct al_repo *repo, const struct al_checkout_options *options,
                    size_t max_bytes, struct al_run_limits *budget,
                    struct al_git_output *ret_output, struct al_error *err);

/** What `git checkout <word>` goes to. */
struct al_checkout_target {
    char *branch; /**< "refs/heads/main" of a local branch; NULL: HEAD becomes detached … */
    char *oid;    /**< … at this commit, or the branch is there; NULL: there is neither … */
    char *guess;  /**< … and these are the branches of remotes git may make one of, "" for none */
};

void al_checkout_target_clear(struct al_checkout_target *target);

/** Say what `git checkout <word>` would go to; a word that names nothing is no error. */
int al_git_resolve_checkout(const struct al_repo *repo, const char *word,
                            struct al_run_limits *budget, struct al_checkout_target *ret_target,
                            struct al_error *err);

#endif
