// SPDX-License-Identifier: Apache-2.0
/* For the files of gitops/landing/ only: what the strategies build. */
#ifndef AL_GITOPS_LANDING_PRIVATE_H
#define AL_GITOPS_LANDING_PRIVATE_H

#include <string.h>

#include "gitops/landing/landing.h"

/** The most commits that are rebased, and that a message lists. */
#define AL_LANDING_COMMITS_MAX 500

/** Build the commit of a merge or a squash.  Conflicts are noted in `landing`. */
int al_landing_build_merge(struct al_landing *landing, const char *message,
                           struct al_run_limits *budget, struct al_error *err);

/** Build the commits of a rebase. */
int al_landing_build_rebase(struct al_landing *landing, struct al_run_limits *budget,
                            struct al_error *err);

/** List the commits of the branch that `into` does not have, oldest first, as `git rebase` takes
 * them: no merges, and none whose change `into` has. */
int al_landing_list(const struct al_landing *landing, struct al_run_limits *budget,
                    struct al_strv *ret_oids, struct al_error *err);

/** The message of a merge or a squash that was given none.  Caller frees. */
int al_landing_message(const struct al_landing *landing, struct al_run_limits *budget,
                       char **ret_message, struct al_error *err);

#endif
