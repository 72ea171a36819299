// SPDX-License-Identifier: Apache-2.0
/* Lock files of other git processes, held or left behind. */
#ifndef AL_GIT_GIT_LOCK_H
#define AL_GIT_GIT_LOCK_H

#include "git/command.h"
#include "git/location.h"
#include <stdbool.h>
#include <sys/stat.h>

/** Locks of a repository, as bits. */
enum al_git_locks {
    AL_LOCK_INDEX = 1 << 0,       /**< index.lock of the working tree */
    AL_LOCK_CONFIG = 1 << 1,      /**< config.lock of the common directory */
    AL_LOCK_PACKED_REFS = 1 << 2, /**< packed-refs.lock of the common directory: references that are
                                     deleted or renamed */
};

/** The path of a lock file.  Caller frees. */
char *al_git_lock_path(const struct al_location *at, enum al_git_locks lock);

/**
 * Test whether a lock file is left over: it is this user's and older than AL_STALE_AFTER_S, no
 * process has it open, and no git of this user works in the repository or in another working tree
 * of it (git may close the file while an editor runs).  False when this cannot be determined.
 *
 * @param lock  The result of lstat(2) for the file.
 */
bool al_git_lock_is_stale(const struct al_location *at, const struct stat *lock);

/** Test whether a lock file, or another file of git's, is this user's, no process has it open, and
 * no git of this user works in the repository.  False when this cannot be determined. */
bool al_git_lock_has_no_holder(const struct al_location *at, const struct stat *lock);

/** Test whether a lock is that of a rollback which was killed: whoever removed it would have a
 * repository that is half changed. */
bool al_git_lock_is_interrupted(const char *path);

#define AL_STALE_AFTER_S 60

/** Somebody who waits for a lock.  The first three members are given. */
struct al_lock_wait {
    struct al_run_limits *budget;
    char *(*describe)(const void *of); /**< what the user is told of it; is freed */
    const void *of;
    int64_t queued_ms; /**< time that is not a part of the budget's */
    int64_t began_ms;
    int inotify_fd; /* -1: there is none, and waiting takes up to 200 ms longer; private */
    int look_ms;
    bool told;
};

/** Begin to watch a file or directory for events of inotify(7). */
void al_lock_wait_begin(struct al_lock_wait *wait, const char *path, uint32_t events);

/** Wait until something happens there, or it is time to look again.  0; AL_ERR_CANCELLED;
 * AL_ERR_TIMEOUT, without an error, when there is no time left. */
int al_lock_wait_step(struct al_lock_wait *wait, struct al_error *err);

/** End it, and reduce the budget if the lock is there now. */
void al_lock_wait_end(struct al_lock_wait *wait, bool succeeded);

/** Test whether any of these lock files (enum al_git_locks) is there. */
bool al_git_lock_exists(const struct al_location *at, unsigned locks);

/**
 * Wait until none of these lock files is there, for at most budget->left_ms, which is reduced by
 * the time waited.
 *
 * @param locks  Of enum al_git_locks.
 * @return 0; AL_ERR_CANCELLED; AL_ERR_EXECUTION with AL_CODE_LOCK_TIMEOUT, at once for a stale
 *         lock.
 */
int al_git_lock_wait(const struct al_location *at, unsigned locks, struct al_run_limits *budget,
                     struct al_error *err);

/**
 * Check, before a user is asked, that index.lock is not left over, although it may be too young for
 * al_git_lock_is_stale(): one without a holder is waited for only briefly.
 *
 * @return 0 when there is none, or a git holds it; otherwise as al_git_lock_wait().
 */
int al_index_lock_check(const struct al_location *at, struct al_error *err);

/** Locks of git's that a rollback takes, so that git does not write meanwhile.
 * The first line has the rollback's token, which tells it from one of git's; that is never touched.
 * The file stays open and locked (flock(2)) as long as the rollback lives, so that nobody takes it
 * for left over, whichever state directory the other one has. */
struct al_lockfile {
    int dir_fd;       /* borrowed */
    const char *name; /* borrowed */
    int fd;           /* -1: it is not held */
};

#define AL_LOCKFILE_INIT ((struct al_lockfile){ .dir_fd = -1, .fd = -1 })

/** Bytes of a token as text, with its NUL: random digits for the names and locks of one rollback.
 */
#define AL_LOCK_TOKEN 17

/**
 * Acquire the lock `name` ("index.lock") in a directory.
 * @return 0; AL_ERR_EXECUTION, with AL_CODE_LOCK_TIMEOUT when another process has it.
 */
int al_lockfile_acquire(struct al_lockfile *lock, int dir_fd, const char *name, const char *token,
                        struct al_error *err);
void al_lockfile_release(struct al_lockfile *lock);

/** Leave the lock in place for the next rollback. */
void al_lockfile_leave(struct al_lockfile *lock);

/** Take over the lock `name` that a killed rollback left, and get its token.  False when it is not
 * there. */
bool al_lockfile_take_over(struct al_lockfile *lock, int dir_fd, const char *name,
                           char ret_token[AL_LOCK_TOKEN]);

#endif
