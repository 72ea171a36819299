// SPDX-License-Identifier: Apache-2.0
/* Which commits new commits descend from, told without git. */
#ifndef AL_CHECKPOINT_ANCESTORS_H
#define AL_CHECKPOINT_ANCESTORS_H

#include <stdbool.h>

#include "gitops/oid.h"
#include "util/str.h"

/** So many commits are read. */
#define AL_ANCESTORS_MAX 32u

/**
 * Find which commits are among `from` or their ancestors.  Only commits that git has not packed yet
 * are read, nearest first, so some may not be found.
 *
 * @param common_fd  The common directory of the repository.
 * @param from       Commits, as hex.
 */
void al_ancestors_find(int common_fd, bool sha256, const struct al_strv *from,
                       const struct al_oid_set *wanted, struct al_oid_set *ret_found);

#endif
