// SPDX-License-Identifier: Apache-2.0
/* index.lock of another git process, held or left behind. */
#ifndef AL_GITOPS_INDEX_LOCK_H
#define AL_GITOPS_INDEX_LOCK_H

#include "gitops/command.h"
#include "gitops/location.h"
#include <stdbool.h>
#include <sys/stat.h>

/**
 * Test whether a lock file is left over: it is this user's and older than AL_STALE_AFTER_S, no
 * process has it open, and no git of this user works in the repository (git may close the file
 * while an editor runs).  False when this cannot be determined.
 *
 * @param lock  The result of lstat(2) for the file.
 */
bool al_git_lock_is_stale(const struct al_location *at, const struct stat *lock);

#define AL_STALE_AFTER_S 60

/**
 * Wait until there is no index.lock, for at most budget->left_ms, which is reduced by the time
 * waited.
 *
 * @return 0; AL_ERR_CANCELLED; AL_ERR_EXECUTION with AL_CODE_LOCK_TIMEOUT, at once for a stale
 *         lock.
 */
int al_index_lock_wait(const struct al_location *at, struct al_run_limits *budget,
                       struct al_error *err);

/**
 * Check, before a user is asked, that a lock is not left over, although it may be too young for
 * al_git_lock_is_stale(): one without a holder is waited for only briefly.
 *
 * @return 0 when there is none, or a git holds it; otherwise as al_index_lock_wait().
 */
int al_index_lock_check(const struct al_location *at, struct al_run_limits *budget,
                        struct al_error *err);

#endif
