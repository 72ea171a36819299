// SPDX-License-Identifier: Apache-2.0
/* Writers of one repository, one at a time. */
#ifndef AL_GITOPS_REPO_WRITE_LOCK_H
#define AL_GITOPS_REPO_WRITE_LOCK_H

#include "gitops/repo/repo.h"
#include "util/error.h"

/** One writer of a repository, at work or waiting.  The list is in order of arrival; the first of a
 * repository works. */
struct al_write_lock {
    struct al_write_lock *next;
    const char *common_dir;           /* borrowed from the repo, which outlives the turn */
    int ready_fd;                     /* eventfd, written when the turn has come */
    const struct al_write_lock *held; /* the turn this writer has already, of another repository */
};

/**
 * Wait for this repository's turn to write, first come first served within this process, then for
 * a foreign index.lock to go away.  The first wait counts towards nothing, the second towards
 * `budget`.
 * @return 0 (then al_write_lock_release() is owed); AL_ERR_CANCELLED; AL_ERR_EXECUTION with
 *         AL_CODE_LOCK_TIMEOUT.
 */
int al_write_lock_acquire_with_index(struct al_repo *repo, struct al_run_limits *budget,
                                     struct al_error *err);
/** The same for what changes files without git, to which an index.lock is no obstacle. */
int al_write_lock_acquire(struct al_repo *repo, struct al_cancel *cancel, struct al_error *err);

/**
 * The turn of another repository, for a writer that may have the turn of its own.  Nothing to do
 * when both are one repository.
 * @return as al_write_lock_acquire(); AL_ERR_EXECUTION with AL_CODE_LOCK_TIMEOUT where the holder
 *         waits for the turn we have.
 */
int al_write_lock_acquire_other(struct al_repo *other, const struct al_repo *own,
                                struct al_cancel *cancel, struct al_error *err);

/** NULL is fine. */
void al_write_lock_release(struct al_repo *repo);

#endif
