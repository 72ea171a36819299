// SPDX-License-Identifier: Apache-2.0
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
#ifndef AL_GITOPS_REPO_SHARED_LOCK_H
#define AL_GITOPS_REPO_SHARED_LOCK_H

#include "gitops/command.h"
#include "util/error.h"
#include "util/str.h"

/**
 * Acquire the lock of a repository.  One descriptor a writer: threads that share a process have to
 * take turns before (gitops/repo/write_lock.h).
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
