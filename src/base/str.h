// SPDX-License-Identifier: Apache-2.0
/*
 * Growing byte strings and lists of strings.
 *
 * A string's `buf` is never NULL, and `buf[len]` is NUL.  The bytes before it may contain NULs.
 *
 * A list owns its items.  The array of a list that is not empty ends with a NULL item, so it can be
 * passed as argv.
 */
#ifndef AL_BASE_STR_H
#define AL_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/** `buf` of every empty string points here; never written. */
extern char al_str_empty[1];

/** A growing string of bytes. */
struct al_str {
    char *buf;
    size_t len;
    size_t cap; /* bytes allocated; 0 while buf is the shared empty string */
};

#define AL_STR_INIT ((struct al_str){ .buf = al_str_empty })

/** Release the contents; the string is empty and usable again. */
void al_str_clear(struct al_str *s);

/** Forget the contents but keep the allocation. */
void al_str_reset(struct al_str *s);

/** Make room for `extra` more bytes and the NUL. */
void al_str_reserve(struct al_str *s, size_t extra);

/** Append bytes, a string, a character or formatted text. */
void al_str_add(struct al_str *s, const void *data, size_t len);
void al_str_adds(struct al_str *s, const char *text);
void al_str_addc(struct al_str *s, char c);
void al_str_addf(struct al_str *s, const char *fmt, ...) al_printf(2, 3);
void al_str_addv(struct al_str *s, const char *fmt, va_list args) al_printf(2, 0);

/** Shorten to `len` bytes; no effect if the string is not longer. */
void al_str_truncate(struct al_str *s, size_t len);

/** Remove white space (space, tab, CR, LF) at the end. */
void al_str_trim_end(struct al_str *s);

/** Hand the buffer to the caller (free() it); the string becomes empty. */
char *al_str_detach(struct al_str *s);

/** Format into a new string owned by the caller. */
char *al_asprintf(const char *fmt, ...) al_printf(1, 2);

/** A list of strings. */
struct al_strv {
    char **items; /* NULL while empty, else `count` strings and a NULL */
    size_t count;
};

#define AL_STRV_INIT ((struct al_strv){ .items = NULL })

/** Release the items; the list is empty and usable again. */
void al_strv_clear(struct al_strv *v);

/** Append a copy of an item, or formatted text. */
void al_strv_add(struct al_strv *v, const char *item);
void al_strv_addf(struct al_strv *v, const char *fmt, ...) al_printf(2, 3);

/** Add an item the list takes over; `item` comes from malloc(). */
void al_strv_take(struct al_strv *v, char *item);

/** Append copies of all items of another list, which may be NULL. */
void al_strv_add_all(struct al_strv *v, const struct al_strv *from);

/** Add several items; the argument list ends with NULL. */
void al_strv_adds(struct al_strv *v, ...) __attribute__((sentinel));

/** Add the parts of a text that characters of `delimiters` separate, but no empty ones.  The text
 * is cut up, and may be NULL. */
void al_strv_split(struct al_strv *v, char *text, const char *delimiters);

/** Test whether an item equals `item`. */
bool al_strv_contains(const struct al_strv *v, const char *item);

/** Sort the items by their bytes, for the binary search of al_strv_contains_sorted(). */
void al_strv_sort(struct al_strv *v);
bool al_strv_contains_sorted(const struct al_strv *v, const char *item);

/** True when `text` begins with `prefix`. */
bool al_starts_with(const char *text, const char *prefix);

/** True when `text` ends with `suffix`. */
bool al_ends_with(const char *text, const char *suffix);

#endif
