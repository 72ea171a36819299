// SPDX-License-Identifier: Apache-2.0
/* Long lists of files, collapsed by directory: "node_modules/: 1,204 files". */
#ifndef AL_CALL_COLLAPSE_H
#define AL_CALL_COLLAPSE_H

#include <stddef.h>

#include "base/str.h"

/**
 * Show a list of paths in at most about `max_lines` lines: small directories file by file, large
 * ones with their number.
 *
 * @param paths  Sorted by their bytes (al_strv_sort()).
 * @param take   Called for each line: for a file with count 1, for a directory with its path, which
 *               ends with '/', and the number of files below it.  `index` is that of the (first)
 *               path in the list.  The path "" with a count are further files of one directory,
 *               which is that of the file at `index`.
 */
void al_collapse(const struct al_strv *paths, size_t max_lines,
                 void (*take)(void *payload, const char *path, size_t count, size_t index),
                 void *payload);

#endif
