// SPDX-License-Identifier: Apache-2.0
/* What somebody who mistyped a word meant. */
#ifndef AL_CONFIG_NEAREST_H
#define AL_CONFIG_NEAREST_H

#include <stddef.h>

/** A word further away than this is another word, not a slip. */
#define AL_NEAREST_MAX_EDITS 2

/** Letters to insert, remove or replace to make one word of the other (Levenshtein).  Words over
 * 64 bytes are further apart than any limit. */
size_t al_edit_distance(const char *a, const char *b);

#endif
