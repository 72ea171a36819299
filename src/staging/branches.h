// SPDX-License-Identifier: Apache-2.0
/* The branches of a target. */
#ifndef AL_STAGING_BRANCHES_H
#define AL_STAGING_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/command.h"
#include "util/error.h"
#include "util/str.h"

struct al_repo;

/** Branches, by their short names in git's order.  Release with al_target_branches_clear(). */
struct al_target_branches {
    struct al_strv names;
    char *current;  /**< the branch of HEAD, which need not exist; NULL: HEAD is detached */
    bool truncated; /**< there are more */
};

/** Free what a list owns. */
void al_target_branches_clear(struct al_target_branches *branches);

/** List the branches of a repository, as many as fit into `max_bytes`. */
int al_target_branches_list(const struct al_repo *repo, size_t max_bytes,
                            struct al_run_limits *budget, struct al_target_branches *ret_branches,
                            struct al_error *err);

#endif
