// SPDX-License-Identifier: Apache-2.0
/* Choosing files by words: a file, a directory or a pattern.  For the files of this room. */
#ifndef AL_STAGING_CHOOSE_H
#define AL_STAGING_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/run.h"
#include "util/error.h"

/** The files to choose from.  Everything is borrowed. */
struct al_choosing {
    const void *items; /**< each begins with its path; sorted by the bytes of the paths */
    size_t count, item_bytes;
    bool *chosen; /**< one for each item; set, never cleared; NULL: it is only asked */
    struct al_deadline *deadline;
};

/** Some of the items. */
struct al_range {
    size_t begin, end;
};

/** The items that lie below a directory; all of them for "". */
struct al_range al_choose_range(const struct al_choosing *from, const char *dir);

/** Choose the file of this path, if it may be one, or else what is below the directory of this
 * path.  Tells whether there is any. */
bool al_choose_path(const struct al_choosing *from, const char *path, bool may_be_file);

/** Choose the files that a pattern matches, see al_sandbox_list().  With `is_whole` it goes by the
 * whole path, also without a '/'. */
int al_choose_matching(const struct al_choosing *from, const char *pattern, bool is_whole,
                       bool *ret_any, struct al_error *err);

/** Test whether a pattern matches a path in this way. */
bool al_choose_matches(const char *pattern, bool is_whole, const char *path);

/** Test whether a word has a character of patterns. */
bool al_choose_is_pattern(const char *word);

#endif
