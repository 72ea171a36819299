// SPDX-License-Identifier: Apache-2.0
/* Finds the word that the user may have meant instead of an unknown one. */
#ifndef AL_BASE_NEAREST_H
#define AL_BASE_NEAREST_H

#include <stddef.h>

/** The largest edit distance of a suggestion. */
#define AL_NEAREST_MAX_EDITS 2

/** The Levenshtein distance: bytes to insert, remove or replace.  SIZE_MAX for words over 64 bytes.
 */
size_t al_edit_distance(const char *a, const char *b);

/** The candidate nearest to `word` so far.  All strings are borrowed. */
struct al_nearest {
    const char *word;
    const char *found; /**< NULL: no candidate is near */
    size_t edits;      /**< from `word` to `found` */
};

/** Keep a candidate that is within the limit, needs edits for at most half of the word, and is
 * nearer than the one before. */
void al_nearest_offer(struct al_nearest *nearest, const char *candidate);

#endif
