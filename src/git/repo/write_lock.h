// SPDX-License-Identifier: Apache-2.0
/*
 * One writer at a time for each repository: in this process by the list below, among processes by
 * gitops/repo/shared_lock.h, which the first of the list takes.
 *
 * | object              | holder                    | guarded by          |
 * |---------------------|---------------------------|---------------------|
 * | list of write locks | the al_git                | the al_git's lock   |
 * | one write lock      | its al_repo, until released | the al_git's lock |
 *
 * The first write lock of a repository in the list is held; the others wait, in order of arrival.
 */
#ifndef AL_GIT_REPO_WRITE_LOCK_H
#define AL_GIT_REPO_WRITE_LOCK_H

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"

/** A write lock, held or waited for. */
struct al_write_lock {
    struct al_write_lock *next;
    const char *common_dir; /* borrowed from the al_repo, which outlives the lock */
    int ready_fd;           /* eventfd, written when the lock is acquired */
    int shared_fd; /* the lock among processes; -1 while it is not held, and for a repository of
                      airlock's own */
    const struct al_write_lock
        *held; /* the lock of another repository that this writer holds already; NULL: none */
};

/**
 * Acquire the write lock of this repository, then wait for a foreign index.lock to go away.
 *
 * Waiting for calls of this process is not limited, since each of them is; nor is it part of the
 * call's time.  Waiting for other processes and for index.lock is limited by `budget`, and reduces
 * it.
 *
 * @return 0 (release with al_write_lock_release()); AL_ERR_CANCELLED; AL_ERR_EXECUTION with
 *         AL_CODE_LOCK_TIMEOUT: the message says who has the lock since when.
 */
int al_write_lock_acquire_with_index(struct al_repo *repo, struct al_run_limits *budget,
                                     struct al_error *err);
/**
 * The same for other locks of git's, of enum al_git_locks.  The write lock is released while one of
 * them is waited for: whoever does not need that one goes first.
 */
int al_write_lock_acquire_with(struct al_repo *repo, unsigned locks, struct al_run_limits *budget,
                               struct al_error *err);

/** Acquire the write lock only: for changes made without git, which an index.lock does not hinder.
 */
int al_write_lock_acquire(struct al_repo *repo, struct al_run_limits *budget, struct al_error *err);

/**
 * Acquire the write lock of another repository, while the one of `own` may be held.  Does nothing
 * when both are one repository.
 *
 * @return as al_write_lock_acquire(); AL_ERR_EXECUTION with AL_CODE_LOCK_TIMEOUT when waiting would
 *         be a deadlock: the holder waits for the lock we hold.  Between processes a deadlock ends
 *         with the first deadline.
 */
int al_write_lock_acquire_other(struct al_repo *other, const struct al_repo *own,
                                struct al_run_limits *budget, struct al_error *err);

/** Release the write lock, if held.  NULL is fine. */
void al_write_lock_release(struct al_repo *repo);

/* --- Shared lock --- */

/*
 * One writer at a time for each repository, across processes: a file of airlock's own for each
 * common directory, below the state directory.
 *
 *   byte 0   held by the writer
 *   byte 1   held by the one that is next: whoever comes later cannot overtake it
 *   content  who holds byte 0, for those that wait; empty when nobody does
 *
 * The locks are open file description locks, which the kernel releases when the process ends,
 * however it ends.  Git's children do not inherit them.
 *
 * Source: fcntl(2) "Open file description locks", inotify(7).
 */

/**
 * Acquire the lock of a repository.  One descriptor a writer: threads that share a process have to
 * take turns before (git/repo/write_lock.h).
 *
 * @param dir         The directory of the lock files; made if it is missing.
 * @param common_dir  The repository's common directory.
 * @param budget      Bounds the wait, which is subtracted from left_ms; says who waits.
 * @param[out] ret_fd The lock, for al_shared_lock_release().
 * @return 0; AL_ERR_CANCELLED; AL_ERR_EXECUTION, with AL_CODE_LOCK_TIMEOUT when another writer
 *         still has it at the deadline: the message says who, and since when.
 */
int al_shared_lock_acquire(const char *dir, const char *common_dir, struct al_run_limits *budget,
                           int *ret_fd, struct al_error *err);

/** Release the lock and close its descriptor; -1 is fine. */
void al_shared_lock_release(int fd);

/** The line that tells a user whom a writer of the repository waits for.  Caller frees. */
char *al_shared_lock_waiting(const char *dir, const char *common_dir);

#endif
