// SPDX-License-Identifier: Apache-2.0
/*
 * Search in arrays that are sorted by the bytes of a string.
 *
 * The string is the first member of each item: a pointer to it, never NULL.  An array of strings is
 * such an array as well.
 */
#ifndef AL_BASE_SORTED_H
#define AL_BASE_SORTED_H

#include <stddef.h>

/** The index of the first item that is not before `text`; `count` if there is none. */
size_t al_sorted_lower_bound(const void *items, size_t count, size_t item_bytes, const char *text);

/** The index of the first item of `text`; SIZE_MAX: there is none. */
size_t al_sorted_find(const void *items, size_t count, size_t item_bytes, const char *text);

#endif
