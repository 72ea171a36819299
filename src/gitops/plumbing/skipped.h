// SPDX-License-Identifier: Apache-2.0
/* What did not run: hooks and filters. */
#ifndef AL_GITOPS_PLUMBING_SKIPPED_H
#define AL_GITOPS_PLUMBING_SKIPPED_H

#include "gitops/command.h"
#include "gitops/repo/repo.h"

/** Hooks of this list (NULL-terminated) that are there and would have run. */
void al_git_skipped_hooks(const struct al_repo *repo, const char *const *hooks, struct al_str *out);

/** Filter drivers that reading the working tree would have run. */
void al_git_skipped_filters(const struct al_repo *repo, struct al_run_limits *budget,
                            struct al_str *out);

#endif
