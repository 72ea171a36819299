// SPDX-License-Identifier: Apache-2.0
/*
 * Finds files that an operation may overwrite and that a checkpoint does not have.
 *
 * A checkpoint leaves a file out when it is ignored, too large or unreadable.  Such a file could
 * not be given back.
 */
#ifndef AL_HISTORY_FIND_MISSING_H
#define AL_HISTORY_FIND_MISSING_H

#include "history/store.h"
#include "util/str.h"

/** Append those of `paths` (relative to the top), and of the files below them, that are there now
 * and that the checkpoint does not have: at most 100. */
int al_find_missing(struct al_store *store, const char *id, int top_fd, const struct al_strv *paths,
                    struct al_run_limits *budget, struct al_strv *ret_missing,
                    struct al_error *err);

#endif
