// SPDX-License-Identifier: Apache-2.0
/* The words `git diff` gets, for a diff that is shown and for one that is written to files. */
#ifndef AL_GITOPS_DIFFARGS_H
#define AL_GITOPS_DIFFARGS_H

#include "gitops/verbs.h"

/** How much of a diff is read for an excerpt: more than is shown, so that the number of further
 * lines is usually exact. */
#define AL_GIT_EXCERPT_MAX_BYTES (256u * 1024u)

/** Append context, safety flags, revisions, "--" and the resolved paths; refuses more of them than
 * one command line holds. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_budget *budget, struct al_strv *argv, struct al_error *err);

#endif
