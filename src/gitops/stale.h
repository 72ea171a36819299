// SPDX-License-Identifier: Apache-2.0
/* A lock whose git is gone. */
#ifndef AL_GITOPS_STALE_H
#define AL_GITOPS_STALE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "gitops/repo.h"

/**
 * Whether a lock file of a repository was left over: it is this user's and older than
 * AL_STALE_AFTER_S, no process has it open, and no git of this user works in the repository (which
 * may have closed it while an editor runs).  What cannot be told is no.
 *
 * @param lock  What lstat(2) says of the file.
 */
bool al_git_lock_is_stale(const struct al_repo *repo, const struct stat *lock);

#define AL_STALE_AFTER_S 60

#endif
