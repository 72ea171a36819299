// SPDX-License-Identifier: Apache-2.0
/* `git diff`. */
#ifndef AL_GITOPS_DIFF_DIFF_H
#define AL_GITOPS_DIFF_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** The choices of git_diff. */
struct al_diff_options {
    bool cached, name_only, stat;
    bool show_controls; /**< for a person who decides by it */
    int64_t unified;    /**< lines of context, -1: git's default */
    const char *from_ref, *to_ref;
    const struct al_strv *paths; /**< words of an agent; resolved here */
    const char *index;           /**< of an excerpt, NULL: the repository's own; borrowed */
};

/** `git diff`; a failing git is an error. */
int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err);

/** Append the words of a diff but its paths: context, safety flags, revisions, "--". */
void al_git_diff_add_options(const struct al_diff_options *options, struct al_strv *argv);

/** The pathspecs of a diff, each with a NUL behind it; none without `paths`. */
int al_git_diff_resolve(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_run_limits *budget, struct al_str *words, struct al_error *err);

/** Append context, safety flags, revisions, "--" and the resolved paths; refuses more of them than
 * one command line holds. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_run_limits *budget, struct al_strv *argv, struct al_error *err);

#endif
