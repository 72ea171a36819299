// SPDX-License-Identifier: Apache-2.0
/* The blobs that the entries of an index name. */
#ifndef AL_GITOPS_PLUMBING_STAGED_OBJECTS_H
#define AL_GITOPS_PLUMBING_STAGED_OBJECTS_H

#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** Append the blobs of entries that HEAD's commit does not have in the same place: all of them
 * when there is no commit yet. */
int al_git_staged_objects(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_strv *ret_oids, struct al_error *err);

#endif
