// SPDX-License-Identifier: Apache-2.0
/* What somebody who mistyped a word meant. */
#ifndef AL_UTIL_NEAREST_H
#define AL_UTIL_NEAREST_H

#include <stddef.h>

/** A word further away than this is another word, not a slip. */
#define AL_NEAREST_MAX_EDITS 2

/** Letters to insert, remove or replace to make one word of the other (Levenshtein).  Words over
 * 64 bytes are further apart than any limit. */
size_t al_edit_distance(const char *a, const char *b);

/** What is nearest to `word` of the candidates seen so far.  Everything is borrowed. */
struct al_nearest {
    const char *word;
    const char *found; /**< NULL: nothing is near */
    size_t edits;      /**< from `word` to `found` */
};

/** Keep a candidate that is within the limit, has half of the word in common, and is nearer than
 * those before. */
void al_nearest_offer(struct al_nearest *nearest, const char *candidate);

#endif
