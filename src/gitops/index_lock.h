// SPDX-License-Identifier: Apache-2.0
/* An index.lock that another git process holds, or left behind. */
#ifndef AL_GITOPS_INDEX_LOCK_H
#define AL_GITOPS_INDEX_LOCK_H

#include "gitops/command.h"
#include "gitops/location.h"
#include <stdbool.h>
#include <sys/stat.h>

/**
 * Whether a lock file of a repository was left over: it is this user's and older than
 * AL_STALE_AFTER_S, no process has it open, and no git of this user works in the repository (which
 * may have closed it while an editor runs).  What cannot be told is no.
 *
 * @param lock  What lstat(2) says of the file.
 */
bool al_git_lock_is_stale(const struct al_location *at, const struct stat *lock);

#define AL_STALE_AFTER_S 60

/** Wait until there is no index.lock, at most budget->left_ms.  Counts down the budget. */
int al_index_lock_wait(const struct al_location *at, struct al_run_limits *budget,
                       struct al_error *err);

#endif
