// SPDX-License-Identifier: Apache-2.0
/*
 * What `git merge-tree --write-tree -z --no-messages` prints: a tree, and the stages of each path
 * in conflict.  Its messages are words for people, and some are no fields.
 *
 * Source: git-merge-tree(1) "OUTPUT".
 */
#ifndef AL_GITOPS_INMEMORY_MERGE_OUTPUT_H
#define AL_GITOPS_INMEMORY_MERGE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/oid.h"
#include "util/str.h"

/** One side of a conflicted path. */
struct al_merge_side {
    char mode[7]; /**< "": the path is not there */
    char oid[AL_OID_TEXT];
};

/** The sides, by the number of their stage less one. */
enum { AL_SIDE_BASE, AL_SIDE_OURS, AL_SIDE_THEIRS, AL_SIDES };

/** One conflicted path. */
struct al_merge_conflict {
    char *path; /**< as it is, relative to the top */
    struct al_merge_side sides[AL_SIDES];
};

/** The outcome of a merge.  Set up with AL_MERGED_INIT. */
struct al_merged {
    char *tree; /**< of a merge with conflicts it contains their markers */
    bool conflicted;
    struct al_merge_conflict *conflicts; /**< sorted by path, each once.  None although there is a
                                            conflict: git cannot tell where a directory went */
    size_t count;
};

#define AL_MERGED_INIT ((struct al_merged){ .tree = NULL })

void al_merged_clear(struct al_merged *merged);

/** The kind of a conflict by its stages, in git's words: "contents", "modify/delete". */
const char *al_merge_conflict_kind(const struct al_merge_conflict *conflict);

/** Append the conflicted paths. */
void al_merged_paths(const struct al_merged *merged, struct al_strv *ret_paths);

/** Parse the output; false, with nothing to clear, for what git does not print.  `conflicted` is
 * for the caller to set. */
bool al_merge_output_parse(const char *data, size_t len, bool sha256, struct al_merged *ret_merged);

#endif
