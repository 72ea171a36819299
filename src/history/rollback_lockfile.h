// SPDX-License-Identifier: Apache-2.0
/*
 * git's lock files, taken by a rollback so that git does not write meanwhile.
 *
 * The first line of a lock that a rollback takes has the rollback's token, which tells it from one
 * that git holds.  A lock of git's is never touched.  The rollback keeps the file open and locked
 * (flock(2)) as long as it lives, so that nobody takes it for left over, whichever state directory
 * the other one has.
 *
 * Source: gitrepository-layout(5), and git's api-lockfile.
 */
#ifndef AL_HISTORY_ROLLBACK_LOCKFILE_H
#define AL_HISTORY_ROLLBACK_LOCKFILE_H

#include <stdbool.h>

#include "util/error.h"

/** Bytes of a token as text, with its NUL. */
#define AL_LOCK_TOKEN 17

/** A lock.  Set up with AL_LOCKFILE_INIT. */
struct al_lockfile {
    int dir_fd; /* borrowed */
    char name[64];
    bool held;
    int fd; /* the file, locked */
};

#define AL_LOCKFILE_INIT ((struct al_lockfile){ .dir_fd = -1, .fd = -1 })

/** Make a new token for the names and locks of one rollback. */
int al_lockfile_token(char ret_token[AL_LOCK_TOKEN], struct al_error *err);

/**
 * Acquire the lock `name` ("index.lock") in a directory.
 * @return 0; AL_ERR_EXECUTION, with AL_CODE_LOCK_TIMEOUT when another process has it.
 */
int al_lockfile_acquire(struct al_lockfile *lock, int dir_fd, const char *name, const char *token,
                        struct al_error *err);
void al_lockfile_release(struct al_lockfile *lock);

/** Test whether a rollback that does not live any more left the lock `name`.  If so, *ret_token
 * gets its token. */
bool al_lockfile_find(int dir_fd, const char *name, char ret_token[AL_LOCK_TOKEN]);

/** Take over the lock `name` that a killed rollback with this token left.  False when it is not
 * there. */
bool al_lockfile_adopt(struct al_lockfile *lock, int dir_fd, const char *name, const char *token);

/** Leave the lock in place for the next rollback. */
void al_lockfile_leave(struct al_lockfile *lock);

/** Remove the lock `name` if a rollback left it. */
void al_lockfile_remove(int dir_fd, const char *name);

/** Remove the temporary files that a killed rollback left in a git directory. */
void al_lockfile_tidy(int dir_fd);

#endif
