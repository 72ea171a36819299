// SPDX-License-Identifier: Apache-2.0
/* An open store, as the files that fill, read and clear it see it. */
#ifndef AL_CHECKPOINT_STORE_H
#define AL_CHECKPOINT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "checkpoint/checkpoint.h"
#include "gitops/deadline.h"
#include "gitops/oid.h"
#include "gitops/plumbing/bare.h"

/** Where checkpoints' references are. */
#define AL_REF_BEFORE "refs/before/"
#define AL_REF_AFTER  "refs/after/"

/** See checkpoint/checkpoint.h. */
struct al_store {
    const struct al_checkpoint_settings *settings; /* borrowed */
    struct al_repo *repo;                          /* borrowed */
    bool sha256;
    char *dir; /* <state>/<id> */
    int dir_fd;
    struct al_bare bare; /* its descriptor is ours: checkpoints.git */
    int pack_fd;         /* objects/pack */
    int lock_fd;         /* held shared while we are open */
};

/** Whether a reference exists, from the files. */
bool al_store_has_ref(const struct al_store *store, const char *name);

/** The object a reference leads to; AL_ERR_NOT_FOUND. */
int al_store_read_ref(const struct al_store *store, const char *name, struct al_oid *ret_oid,
                      struct al_error *err);

/** Make a new reference. */
int al_store_write_ref(const struct al_store *store, const char *name, const struct al_oid *oid,
                       struct al_error *err);

#endif
