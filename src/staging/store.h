// SPDX-License-Identifier: Apache-2.0
/*
 * The store on disk, for the files of this folder.
 *
 *   store.git               objects; refs/staged/<uuid>; refs/base/<key>, see staging/base.h;
 *                           refs/pull/<key>, see staging/pull/private.h
 *   staged/<uuid>.json      a staged commit: it exists as long as this file does
 *   sandboxes/<key>.markers files with conflict markers; see staging/markers.h
 *   sandboxes/<key>.alive   locked by the process of a memory sandbox
 *   lock                    locked by a process that changes any of these
 *
 * Files are written beside and renamed, so a reader needs no lock.  Whoever reads, decides and then
 * writes holds the lock in between.  Objects that no reference holds may be deleted whenever the
 * lock is not held: after a day, and at once if the store is full.
 */
#ifndef AL_STAGING_STORE_H
#define AL_STAGING_STORE_H

#include <pthread.h>
#include <stdbool.h>

#include "gitops/oid.h"
#include "gitops/plumbing/bare.h"
#include "staging/staging.h"
#include "util/json.h"

#define AL_REF_STAGED "refs/staged/"
#define AL_REF_BASE   "refs/base/"
#define AL_REF_PULL   "refs/pull/"

/** See staging/staging.h. */
struct al_staging {
    struct al_staging_options options;
    char *dir; /* <state>/staging/<id> */
    int dir_fd, staged_fd, sandboxes_fd, pack_fd;
    struct al_bare bare; /* store.git; its descriptor belongs to the staging */
    char key[33];        /* of the sandbox; "" without one */
    int alive_fd;        /* sandboxes/<key>.alive, locked; -1: not a memory sandbox */

    pthread_mutex_t mutex; /* held with the file lock; recursive */
    int lock_fd;
    unsigned depth; /* how often this thread has locked */
};

/**
 * Lock the store against other threads and processes.  The thread that holds the lock may lock it
 * again.
 *
 * @param budget  AL_ERR_TIMEOUT and AL_ERR_CANCELLED while waiting.
 */
int al_staging_lock(struct al_staging *staging, struct al_run_limits *budget, struct al_error *err);
void al_staging_unlock(struct al_staging *staging);

/** Test whether a sandbox was in memory, and its process has ended. */
bool al_staging_is_gone(const struct al_staging *staging, const char *key);

/** Remove the base of a sandbox that is gone.  With the lock held. */
void al_staging_drop_sandbox(struct al_staging *staging, const char *key);

/** Remove objects that nothing names, however young they are, if there are too many of them.  A
 * push that waits for its approval may then have to be repeated.  With the lock held. */
int al_staging_make_room(struct al_staging *staging, struct al_run_limits *budget,
                         struct al_error *err);

/** "cannot use the staging store '…': <errno>". */
int al_staging_unusable(const struct al_staging *staging, int errno_value, struct al_error *err);

/** The object of a reference of the store; AL_ERR_NOT_FOUND when there is none. */
int al_staging_read_ref(const struct al_staging *staging, const char *name, struct al_oid *ret_oid,
                        struct al_error *err);

/** Delete a reference, durable.  It need not exist. */
int al_staging_delete_ref(struct al_staging *staging, const char *name,
                          struct al_run_limits *budget, struct al_error *err);

/** Put the names in a directory of store.git on the disk. */
int al_staging_sync(const struct al_staging *staging, const char *dir, struct al_error *err);

/** The reason of an error about a file that can be read, and is not what airlock writes. */
#define AL_STAGING_DAMAGED "damaged"

/** Report such a file.  Returns AL_ERR_EXECUTION. */
int al_staging_damaged(const struct al_staging *staging, const char *name, struct al_error *err);

/** Read a JSON object of one of the store's directories; AL_ERR_NOT_FOUND when there is no such
 * file.  Caller owns the reference. */
int al_staging_read_json(const struct al_staging *staging, int dir_fd, const char *name,
                         json_t **ret_object, struct al_error *err);

/** Write one, durable.  `object` is borrowed. */
int al_staging_write_json(const struct al_staging *staging, int dir_fd, const char *name,
                          const json_t *object, struct al_error *err);

/** Remove one, durable.  It need not exist. */
int al_staging_remove_json(const struct al_staging *staging, int dir_fd, const char *name,
                           struct al_error *err);

#endif
