// SPDX-License-Identifier: Apache-2.0
/* Where two trees differ, told without git: as `git diff-tree -r --no-renames`, in any order. */
#ifndef AL_GITOPS_PLUMBING_TREE_DIFF_H
#define AL_GITOPS_PLUMBING_TREE_DIFF_H

#include "gitops/plumbing/object_reader.h"

/** A path at which two trees have different files. */
struct al_tree_change {
    const char *path;
    unsigned old_mode, new_mode; /**< 0: there is none */
    struct al_oid old_oid, new_oid;
};

/** Gets each change; false: no more are wanted. */
typedef bool (*al_tree_change_fn)(void *payload, const struct al_tree_change *change);

/**
 * Compare two trees.
 *
 * @param old  NULL: the empty tree.  So is `now`.
 * @return false: it cannot be told here, and what was given is invalid.
 */
bool al_tree_diff(struct al_object_reader *reader, const struct al_oid *old,
                  const struct al_oid *now, al_tree_change_fn give, void *payload);

/** The same, which also gives the directories that differ, with the mode 040000; the path of the
 * top is "". */
bool al_tree_diff_with_trees(struct al_object_reader *reader, const struct al_oid *old,
                             const struct al_oid *now, al_tree_change_fn give, void *payload);

#endif
