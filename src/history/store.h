// SPDX-License-Identifier: Apache-2.0
/*
 * An open store, for the files of this folder and those that restore from it.
 *
 *   <state>/<id>/checkpoints.git   a bare repository:
 *       refs/before/<id>           the checkpoint before an execution
 *       refs/after/<id of before>  the one after
 *       refs/last/files            the tree of files that was recorded last: what is recorded
 *                                  next is compared with it
 *       refs/new/<nonce>           one that is being written, or may still be refused
 *       held                       see al_keep_hold()
 *       files.index, nested-*      git's indexes over the working tree and nested repositories
 *       last-<tree>.index          the index that the tree of refs/last/files was made from
 *   <state>/<id>/lock              locked shared while the store is open, alone by a clean-up
 *   <state>/<id>/seen              see history/keep.h
 *   <state>/<id>/modes             see history/modes.h
 *   <state>/<id>/staged            blobs of the index that the last checkpoint has copied
 *   <state>/<id>/pieces            those that the index of the last checkpoint consists of
 *   <state>/<id>/expiry            its time: when old checkpoints were looked for
 */
#ifndef AL_HISTORY_STORE_H
#define AL_HISTORY_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "git/oid.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/snapshot.h"
#include "history/checkpoint.h"

/** The references of checkpoints before and after an execution. */
#define AL_REF_BEFORE "refs/before/"
#define AL_REF_AFTER  "refs/after/"
#define AL_REF_NEW    "refs/new/"
#define AL_REF_FILES  "refs/last/files"

/** The length of a store's folder name. */
#define AL_STORE_ID_DIGITS 32

/** See history/checkpoint.h. */
struct al_store {
    const struct al_checkpoint_settings *settings; /* borrowed */
    struct al_repo *repo;                          /* borrowed */
    bool sha256;
    char *dir;  /* <state>/<id> */
    char *path; /* of checkpoints.git */
    int dir_fd;
    struct al_location bare; /* checkpoints.git, which borrows from the repository */
    int pack_fd;             /* objects/pack */
    int lock_fd;             /* locked shared while the store is open */
    struct al_beside import; /* writes checkpoints */
    /* Of the checkpoint before an execution that was taken last; the one after begins with it. */
    char before[AL_OID_TEXT]; /* its id; "": none */
    struct al_str refs;       /* its references */
    char tree[AL_OID_TEXT];   /* its files without those of nested repositories */
    /* Of the working tree: */
    bool holds;              /* all its objects, since a program runs: a rollback returns them */
    bool has_listed;         /* a checkpoint with files was taken with this handle */
    struct al_strv nested;   /* its nested repositories */
    struct al_strv inlined;  /* files that the last checkpoint has and its index does not */
    struct al_oid_set blobs; /* their content */
    bool is_blocked;         /* git waited for a fifo when it listed them */
    struct al_saved *loaded; /* checkpoints that were read, the last one first */
};

/** The identity of the repository, which tells it from another one at its path, but not from a copy
 * of it: "<time>/<inode>.<birth>", the time of a file that git writes as it makes the repository,
 * which copies and backups keep, and what names the directory while it is there.  Caller frees. */
char *al_store_repository(const struct al_store *store);

/** Test whether two of these are of one repository: one half of them is the same, or one is "". */
bool al_store_is_repository(const char *saved, const char *is);

/** Test whether a text is the id of a checkpoint: it has as many digits as ids of this store. */
bool al_store_is_id(const struct al_store *store, const char *id);

/** Take the id that a text begins with; false: it begins with none. */
bool al_store_take_id(const struct al_store *store, const char *text, char ret_id[AL_OID_TEXT]);

/** Fail with AL_ERR_NOT_FOUND: there is no such checkpoint. */
int al_store_no_checkpoint(struct al_error *err);

/** Fail: the store cannot be written or read. */
int al_store_unusable(const struct al_store *store, int errno_value, struct al_error *err);

/** The object of a reference; AL_ERR_NOT_FOUND when there is none. */
int al_store_read_ref(const struct al_store *store, const char *name, char ret_oid[AL_OID_TEXT],
                      struct al_error *err);

/** Give a reference in refs/new its name in another directory of references.  The names of all
 * packs are on the disk before; its own is after, or with the next one before an execution. */
int al_store_name(const struct al_store *store, const char *from, const char *dir, const char *name,
                  struct al_error *err);

/** Put the names in a directory of the bare repository on the disk. */
int al_store_sync_dir(const struct al_store *store, const char *dir, struct al_error *err);

/** Wait for a lock (flock(2)) of a file of the store. */
int al_store_wait(const struct al_store *store, int fd, int how, struct al_run_limits *budget,
                  struct al_error *err);

/** Free what al_checkpoint_load() has read longest ago, but for so many and those that are kept; 0:
 * all. */
void al_checkpoints_unload(struct al_store *store, size_t most);

/** Remove the files of a directory of the bare repository whose names begin with a prefix, but for
 * one. */
void al_store_remove(const struct al_store *store, const char *in, const char *prefix,
                     const char *but);

/** Append those of `paths` (relative to the top), and of the files below them, that are there now
 * and that the checkpoint, which was taken just now, does not have: at most 100. */
int al_find_missing(struct al_store *store, const char *id, int top_fd, const struct al_strv *paths,
                    struct al_strv *ret_missing, struct al_error *err);

/** Whether it is time to look for checkpoints that are too old. */
bool al_store_expiry_is_due(const struct al_store *store);

#endif
