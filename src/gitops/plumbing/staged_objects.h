// SPDX-License-Identifier: Apache-2.0
/* The blobs that the entries of an index name. */
#ifndef AL_GITOPS_PLUMBING_STAGED_OBJECTS_H
#define AL_GITOPS_PLUMBING_STAGED_OBJECTS_H

#include "gitops/plumbing/bare.h"
#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** One blob. */
struct al_blob_size {
    const char *oid;              /**< as hex; valid during the callback */
    uint64_t bytes, packed_bytes; /**< its size, and what it takes in the repository */
};

/** Gets the blobs among `oids` that exist in the bare repository or the borrowed one, in order. */
int al_bare_blob_sizes(const struct al_bare *bare, const struct al_strv *oids,
                       void (*take)(void *payload, const struct al_blob_size *blob), void *payload,
                       struct al_run_limits *budget, struct al_error *err);

/** Append the objects of entries that HEAD's commit does not have in the same place: all of them
 * when there is no commit yet. */
int al_git_staged_objects(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_strv *ret_oids, struct al_error *err);

#endif
