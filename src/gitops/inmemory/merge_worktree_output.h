// SPDX-License-Identifier: Apache-2.0
/*
 * The outcome of `git merge` in the form in which git merge-tree prints one.
 *
 * git merge says in words which paths conflict and how.  Its words name our side "HEAD", and so do
 * the files that it moves out of the way of a directory; merge-tree has the commit's id there.
 *
 * Source: merge-ort.c of git 2.34 to 2.39 (path_msg), git-merge-tree(1) "OUTPUT".
 */
#ifndef AL_GITOPS_INMEMORY_MERGE_WORKTREE_OUTPUT_H
#define AL_GITOPS_INMEMORY_MERGE_WORKTREE_OUTPUT_H

#include <stddef.h>

#include "util/str.h"

/** What git merge left behind, and what it said.  Borrowed. */
struct al_worktree_merge {
    const char *tree;          /**< the merged one, with the markers of conflicts */
    const char *ours;          /**< the commit that is called HEAD in `said` */
    const char *theirs;        /**< the commit that is called by its id */
    const char *unmerged;      /**< of `git ls-files -u -z` */
    size_t unmerged_len;       /**< bytes */
    const struct al_str *said; /**< standard error, then standard output; unsafe text */
};

/** Append what `git merge-tree --write-tree -z --messages` would have printed.  The messages are
 * all in one. */
void al_worktree_merge_output(const struct al_worktree_merge *merge, struct al_str *out);

#endif
