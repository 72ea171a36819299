// SPDX-License-Identifier: Apache-2.0
/*
 * One writer at a time for each repository, in this process and among processes: a file of
 * airlock's own for each common directory, below the state directory.
 *
 *   byte 0   held by the writer
 *   byte 1   held by the one that is next: whoever comes later cannot overtake it
 *   content  who holds byte 0, for those that wait, and its private directory; empty when nobody
 *            does
 *
 * The locks are open file description locks: threads exclude each other as processes do, and the
 * kernel releases them when the process ends, however it ends.  Git's children do not inherit them.
 *
 * Source: fcntl(2) "Open file description locks", inotify(7).
 */
#ifndef AL_GIT_REPO_WRITE_LOCK_H
#define AL_GIT_REPO_WRITE_LOCK_H

#include "base/error.h"
#include "git/command.h"
#include "git/repo/repo.h"

/**
 * Acquire the write lock of this repository only: for changes made without git, which an index.lock
 * does not hinder.
 *
 * Waiting for calls of this process is not limited, since each of them is; nor is it part of the
 * call's time.  Waiting for other processes is limited by `budget`, and reduces it.
 *
 * @return 0 (release with al_write_lock_release()); AL_ERR_CANCELLED; AL_ERR_EXECUTION with
 *         AL_CODE_LOCK_TIMEOUT: the message says who has the lock since when.
 */
int al_write_lock_acquire(struct al_repo *repo, struct al_run_limits *budget, struct al_error *err);

/**
 * The same, then wait for locks of git's to go away, of enum al_git_locks: limited by `budget`,
 * too. The write lock is released while one of them is waited for: whoever does not need that one
 * goes first.
 */
int al_write_lock_acquire_with(struct al_repo *repo, unsigned locks, struct al_run_limits *budget,
                               struct al_error *err);

/**
 * Acquire the write lock of another repository, while the one of `own` may be held.  Does nothing
 * when both are one repository.  All waiting is limited: two that wait for each other end with the
 * first deadline.
 */
int al_write_lock_acquire_other(struct al_repo *other, const struct al_repo *own,
                                struct al_run_limits *budget, struct al_error *err);

/** Release the write lock, if held.  NULL is fine. */
void al_write_lock_release(struct al_repo *repo);

#endif
