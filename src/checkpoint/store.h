// SPDX-License-Identifier: Apache-2.0
/* An open store, for the files of this folder and those that restore from it. */
#ifndef AL_CHECKPOINT_STORE_H
#define AL_CHECKPOINT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "checkpoint/checkpoint.h"
#include "gitops/deadline.h"
#include "gitops/oid.h"
#include "gitops/plumbing/bare.h"
#include "odb/pack_index.h"

/** The references of checkpoints before and after an execution. */
#define AL_REF_BEFORE "refs/before/"
#define AL_REF_AFTER  "refs/after/"

/** The length of a store's folder name. */
#define AL_STORE_ID_DIGITS 32

/** The directories of these references. */
extern const char *const al_store_ref_dirs[2];

struct al_recent_ref; /* checkpoint/recent_known.h */

/** The file of the newest checkpoints, see checkpoint/recent.h. */
struct al_recent {
    int fd;              /* -1: there is none */
    uint64_t nonce, end; /* where the last record that is known ends; 0: not known */
    uint64_t published;  /* the records before this are packs and references as well */
    unsigned count;      /* the number of records up to the end */
    struct al_recent_ref *refs;
    size_t nrefs;
    struct al_packs *objects; /* NULL: none */
};

struct al_memo; /* checkpoint/memo.h */

/** See checkpoint/checkpoint.h. */
struct al_store {
    const struct al_checkpoint_settings *settings; /* borrowed */
    struct al_repo *repo;                          /* borrowed */
    bool sha256;
    char *dir; /* <state>/<id> */
    int dir_fd;
    /* checkpoints.git; the descriptor in it belongs to the store.  A git that reads checkpoints
     * gets it from al_store_git(). */
    struct al_bare bare;
    int pack_fd;            /* objects/pack */
    struct al_packs *packs; /* what is in there; NULL: not read */
    /* The size of the packs, and when their directory had changed last; -1: not measured. */
    struct al_packs_size size;
    struct timespec size_mtim;
    /* A pack was written that no reference leads to, since its checkpoint is in `recent2` or fails.
     * A gc of a user's git removes it. */
    bool has_loose_pack;
    int lock_fd; /* locked shared while the store is open */
    struct al_recent recent;
    struct al_memo *memo; /* NULL: nothing was read */
};

/** Parse the id of a checkpoint; false unless it has as many digits as ids of this store. */
bool al_store_parse_id(const struct al_store *store, const char *id, struct al_oid *ret_oid);

/** Fail with AL_ERR_NOT_FOUND: there is no such checkpoint. */
int al_store_no_checkpoint(struct al_error *err);

/** The bare repository for a git that reads checkpoints.  Those that are only in `recent2` become
 * packs and references first. */
int al_store_git(struct al_store *store, const struct al_bare **ret_bare, struct al_error *err);

/** Test whether the store has an object, in `recent2` or in a pack that has no .keep file: those
 * have commits of the repository, and there may be many.  The store is the payload, so that a
 * writer of objects can ask (al_objects_ask()). */
bool al_store_has_object(void *store, const struct al_oid *oid);

/** Read the directory of packs again before the next object is looked up or the size is asked for.
 */
void al_store_look_again(struct al_store *store);

/** Test whether a reference exists. */
bool al_store_has_ref(struct al_store *store, const char *name);

/** The object of a reference; AL_ERR_NOT_FOUND when there is none. */
int al_store_read_ref(struct al_store *store, const char *name, struct al_oid *ret_oid,
                      struct al_error *err);

/** Make removals of references durable: one that came back would lead to nothing. */
int al_store_sync_refs(const struct al_store *store, struct al_error *err);

/** Lock the store exclusively.  False while others use it; then it is locked shared as before.
 * Between the two another process may have been alone for a moment. */
bool al_store_lock_alone(const struct al_store *store);

/** Lock the store shared again. */
void al_store_lock_shared(const struct al_store *store);

/** Create a reference, and synchronise it if it must be durable by itself. */
int al_store_write_ref(const struct al_store *store, const char *name, const struct al_oid *oid,
                       bool durable, struct al_error *err);

#endif
