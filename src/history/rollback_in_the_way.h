// SPDX-License-Identifier: Apache-2.0
/*
 * What stands in the place of a file that a rollback writes, and is in no checkpoint: it is
 * ignored, too large, or new.  A file, a link or a fifo may be where a directory is to be, and a
 * directory where a file is to be.
 */
#ifndef AL_HISTORY_ROLLBACK_IN_THE_WAY_H
#define AL_HISTORY_ROLLBACK_IN_THE_WAY_H

#include "history/checkpoint.h"
#include "util/str.h"

/** Test whether a file at the place of a change is as the change makes it. */
typedef bool al_is_as_wanted_fn(const void *payload, int parent_fd, const char *name,
                                const struct al_difference *change);

/**
 * Append the name of what is in the way of a change, at most one.
 *
 * @param changes    All changes, in order: what they remove is in nobody's way.
 * @param change     One of them, of the working tree: a file that is not there.
 * @param is_wanted  Called with the payload for a file at its place.
 */
void al_find_in_the_way(int top_fd, const struct al_differences *changes,
                        const struct al_difference *change, al_is_as_wanted_fn *is_wanted,
                        const void *payload, struct al_strv *ret_names);

/** Test whether a file that the changes remove is where they write another one or its directory. */
bool al_is_in_the_way(const struct al_differences *changes, const char *path);

/** Remove a directory that has nothing but directories, where a file is to be. */
void al_remove_empty_directories(int top_fd, const char *path);

#endif
