// SPDX-License-Identifier: Apache-2.0
/* The words `git diff` gets, for a diff that is shown and for one that is written to files. */
#ifndef AL_GITOPS_DIFFARGS_H
#define AL_GITOPS_DIFFARGS_H

#include "gitops/verbs.h"

/** Append context, safety flags, revisions, "--" and the resolved paths. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_budget *budget, struct al_strv *argv, struct al_error *err);

#endif
