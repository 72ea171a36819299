// SPDX-License-Identifier: Apache-2.0
/* Writers of one repository, one at a time. */
#ifndef AL_GITOPS_REPO_WRITE_LOCK_H
#define AL_GITOPS_REPO_WRITE_LOCK_H

#include "gitops/repo/repo.h"
#include "util/error.h"

/** One writer of a repository, at work or waiting.  The list is in order of arrival; the first of a
 * repository works. */
struct al_turn {
    struct al_turn *next;
    const char *common_dir;     /* borrowed from the repo, which outlives the turn */
    int ready_fd;               /* eventfd, written when the turn has come */
    const struct al_turn *held; /* the turn this writer has already, of another repository */
};

/**
 * Wait for this repository's turn to write, first come first served within this process, then for
 * a foreign index.lock to go away.  The first wait counts towards nothing, the second towards
 * `budget`.
 * @return 0 (then al_repo_end_write() is owed); AL_ERR_CANCELLED; AL_ERR_EXECUTION with
 *         AL_CODE_LOCK_TIMEOUT.
 */
int al_repo_begin_write(struct al_repo *repo, struct al_budget *budget, struct al_error *err);
/** The same for what changes files without git, to which an index.lock is no obstacle. */
int al_repo_begin_turn(struct al_repo *repo, struct al_cancel *cancel, struct al_error *err);

/**
 * The turn of another repository, for a writer that may have the turn of its own.  Nothing to do
 * when both are one repository.
 * @return as al_repo_begin_turn(); AL_ERR_EXECUTION with AL_CODE_LOCK_TIMEOUT where the holder
 *         waits for the turn we have.
 */
int al_repo_begin_turn_beside(struct al_repo *other, const struct al_repo *own,
                              struct al_cancel *cancel, struct al_error *err);

/** NULL is fine. */
void al_repo_end_write(struct al_repo *repo);

#endif
