// SPDX-License-Identifier: Apache-2.0
/* What holds for all entries of an index. */
#ifndef AL_GITOPS_PLUMBING_INDEX_FACTS_H
#define AL_GITOPS_PLUMBING_INDEX_FACTS_H

#include <stdbool.h>

#include "gitops/location.h"

/** Test whether an entry may be marked as unchanged or as not in the working tree, so that git does
 * not look at its file.  False only if the index was understood completely, or does not exist. */
bool al_repo_may_have_marks(const struct al_location *at);

/** Test whether an entry may be a side of a conflict.  False only if the index was understood
 * completely, or does not exist. */
bool al_repo_may_have_conflicts(const struct al_location *at);

/** Test whether the index may have a gitlink, or entries in another file.  False only if the index
 * was understood completely, or does not exist. */
bool al_index_may_have_gitlinks(const char *path);

/** al_index_may_have_gitlinks() for the repository's index.  A wrong yes costs only exec-once. */
bool al_repo_may_have_gitlinks(const struct al_location *at);

#endif
