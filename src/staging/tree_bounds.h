// SPDX-License-Identifier: Apache-2.0
/*
 * How much of a commit's tree is read: a few objects that name each other can stand for any number
 * of files, and of directories in each other.
 */
#ifndef AL_STAGING_TREE_BOUNDS_H
#define AL_STAGING_TREE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/** The most files and directories together.  A sandbox has no more files either. */
#ifndef AL_TREE_ENTRIES_MAX /* tests compile with smaller limits */
#define AL_TREE_ENTRIES_MAX 1000000u
#endif

/** The most bytes of their paths. */
#ifndef AL_TREE_NAMES_MAX_BYTES
#define AL_TREE_NAMES_MAX_BYTES (256u << 20)
#endif

/** The most directories that a file or a directory lies in. */
#ifndef AL_TREE_DEPTH_MAX
#define AL_TREE_DEPTH_MAX 1000u
#endif

/** What was read so far.  Zero-initialised, it is nothing. */
struct al_tree_bounds {
    uint64_t entries, names_bytes;
    bool is_exceeded;
};

/** Count the path of a file or a directory.  False: the tree is too large. */
bool al_tree_bounds_add(struct al_tree_bounds *bounds, const char *path);

/**
 * Fail if the tree was too large: "<what> has more than … files and directories, …; <advice>".
 *
 * @return 0 or AL_ERR_EXECUTION.
 */
int al_tree_bounds_check(const struct al_tree_bounds *bounds, const char *what, const char *advice,
                         struct al_error *err);

#endif
