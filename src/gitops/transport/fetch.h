// SPDX-License-Identifier: Apache-2.0
/* `git fetch`. */
#ifndef AL_GITOPS_TRANSPORT_FETCH_H
#define AL_GITOPS_TRANSPORT_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/transport/network.h"

/** What to fetch. */
struct al_fetch_options {
    const char *branch; /**< NULL: what the remote's refspecs say */
    bool prune;         /**< references of branches that are gone are removed */
};

/** `git fetch`.  *ret_text gets a line for each reference that changed, "" when none did. */
int al_git_fetch(struct al_network *network, const struct al_fetch_options *options,
                 const struct al_progress *progress, size_t max_bytes, struct al_run_limits *budget,
                 struct al_str *ret_text, struct al_error *err);

/** How many files differ between a commit ("" for none at all) and HEAD. */
int al_git_count_updated(const struct al_repo *repo, const char *before,
                         struct al_run_limits *budget, uint64_t *ret_count, struct al_error *err);

#endif
