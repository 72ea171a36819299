// SPDX-License-Identifier: Apache-2.0
/*
 * Bounds of what a three-way merge writes into the working tree, without merging.
 *
 * A merge writes what the other side changed.  Three things make it write more: a file that this
 * side renamed takes the other side's change at its new name; a file that one side added to a
 * directory which the other side renamed moves along; and where a file meets a directory or another
 * type, one of them gets a name of its own ("file~HEAD").  The first is in the list, and the other
 * two make it unknown.
 *
 * Source: git's merge-ort.c, merge-recursive.c, diffcore-rename.c; git-diff(1), "RAW OUTPUT
 * FORMAT".
 */
#ifndef AL_GITOPS_PREVIEW_THREE_WAY_H
#define AL_GITOPS_PREVIEW_THREE_WAY_H

#include <stdbool.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** One changed path of a side. */
struct al_side_change {
    char *path;
    char status; /**< 'A', 'M', 'D', 'T' */
    unsigned old_mode, new_mode;
};

/** The changes of a side since the merge base, without renames. */
struct al_side {
    struct al_side_change *items; /**< sorted by path, as bytes */
    size_t count, capacity;
};

#define AL_SIDE_INIT ((struct al_side){ .items = NULL })

void al_side_clear(struct al_side *side);

/** Add a change.  When all are there, they are sorted. */
void al_side_add(struct al_side *side, char status, unsigned old_mode, unsigned new_mode,
                 const char *path);
void al_side_sort(struct al_side *side);

/** Read the output of a `git diff-… --raw -z --no-renames`. */
int al_side_read(const struct al_repo *repo, const struct al_git_command *command,
                 struct al_run_limits *budget, struct al_side *ret_side, struct al_error *err);

/** What is known of the files that a merge writes. */
enum al_bound {
    AL_BOUND_KNOWN,      /**< they are all in the list */
    AL_BOUND_NEEDS_OURS, /**< the changes of this side are needed to tell */
    AL_BOUND_UNKNOWN,
};

/**
 * List the files that a merge writes.
 *
 * @param theirs  The changes of the side that comes in.
 * @param ours    The changes of this side, which the index has; NULL: not read yet.
 * @param out     Names relative to the top, appended if they are known.
 */
enum al_bound al_three_way_bound(const struct al_repo *repo, const struct al_side *theirs,
                                 const struct al_side *ours, struct al_strv *out);

#endif
