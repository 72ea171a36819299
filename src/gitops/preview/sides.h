// SPDX-License-Identifier: Apache-2.0
/* The changes of the side that comes in with a merge or a stash, read without git. */
#ifndef AL_GITOPS_PREVIEW_SIDES_H
#define AL_GITOPS_PREVIEW_SIDES_H

#include "gitops/preview/three_way.h"

/**
 * Read what a commit changed since its merge base with HEAD's commit, where there is one base and
 * it is near.
 *
 * @param head, target  Commits, as hex.
 * @return false: it cannot be told here, and `ret_side` is empty.
 */
bool al_side_of_commit(const struct al_repo *repo, const char *head, const char *target,
                       struct al_side *ret_side);

/** Read what differs from one commit to another; false: it cannot be told here. */
bool al_side_between(const struct al_repo *repo, const char *from, const char *to,
                     struct al_side *ret_side);

/**
 * Read what an entry of the stash changed since its commit, with its untracked files.
 *
 * @param entry  "stash@{0}", or the id of an entry; others are left to git.
 */
bool al_side_of_stash(const struct al_repo *repo, const char *entry, struct al_side *ret_side);

#endif
