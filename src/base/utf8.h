// SPDX-License-Identifier: Apache-2.0
/* UTF-8 as in RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef AL_BASE_UTF8_H
#define AL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/**
 * Read one character.
 *
 * @return the length in bytes (1..4), with *ret_char set; 0: the text ends inside a character that
 * is valid so far, or `len` is 0; -1: the text does not begin with a valid character.
 */
int al_utf8_next(const char *text, size_t len, uint32_t *ret_char);

/** Append one character, at most U+10FFFF.  A surrogate gives bytes that are not UTF-8. */
void al_utf8_add(uint32_t c, struct al_str *out);

/** U+FFFD in UTF-8: replaces bytes that are not UTF-8. */
#define AL_UTF8_REPLACEMENT "\xef\xbf\xbd"

/** Test whether a character is invisible: bidi controls, joiners, selectors, fillers, tags,
 * separators. */
bool al_utf8_is_invisible(uint32_t c);

/** Test whether a character is one of these, or a control character. */
bool al_utf8_is_hidden(uint32_t c);

/** Test whether the whole text is UTF-8. */
bool al_utf8_valid(const char *text, size_t len);

/** Append the text with each byte that is not part of a character replaced by U+FFFD. */
void al_utf8_replace(const char *text, size_t len, struct al_str *out);

/**
 * Append the text with each byte that is not part of a character as <E9>, as less(1) shows it.  A
 * "<" that would be read as the beginning of such a byte becomes <3C>, so al_utf8_unescape() always
 * gives back the very bytes.
 */
void al_utf8_escape(const char *text, size_t len, struct al_str *out);

/** The reverse: <80> to <FF> and <3C> are read as bytes, everything else is copied. */
void al_utf8_unescape(const char *text, struct al_str *out);

/** The byte that <E9> at the beginning of the text stands for, as al_utf8_unescape() reads it; 0
 * when there is none. */
unsigned char al_utf8_escaped_byte(const char *text);

/** The largest length <= `len` that does not cut a character in two.  `text[len]` is read, so it
 * must exist; it may be the terminating NUL. */
size_t al_utf8_floor(const char *text, size_t len);

#endif
