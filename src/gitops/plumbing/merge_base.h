// SPDX-License-Identifier: Apache-2.0
/* The merge base of two commits, told without git where it is near. */
#ifndef AL_GITOPS_PLUMBING_MERGE_BASE_H
#define AL_GITOPS_PLUMBING_MERGE_BASE_H

#include "gitops/plumbing/object_reader.h"

/** So many commits are read; what is further away is left to git. */
#define AL_MERGE_BASE_COMMITS_MAX 64u

/**
 * Find the merge base of two commits; it is one of them when the other descends from it.
 *
 * @param one, other  Commits, as hex.
 * @return The commit, as hex, which the caller frees.  NULL: there are several or none, or it
 * cannot be told here, as in a repository whose history ends at a shallow boundary.
 */
char *al_merge_base(struct al_object_reader *reader, const char *one, const char *other);

#endif
