// SPDX-License-Identifier: Apache-2.0
/* UTF-8 as RFC 3629 has it: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef AL_UTIL_UTF8_H
#define AL_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

/**
 * Read one character.
 *
 * @return its length in bytes (1..4) with *ret_char set; 0 when `len` bytes are a correct but
 *         unfinished beginning (also for len 0); -1 when the first byte cannot begin or go on.
 */
int al_utf8_next(const char *text, size_t len, uint32_t *ret_char);

/** How many bytes at the front of the text are ASCII. */
size_t al_utf8_ascii(const char *text, size_t len);

/** Whether all of the text is UTF-8. */
bool al_utf8_valid(const char *text, size_t len);

/** Append the text with each byte that is not part of a character replaced by U+FFFD. */
void al_utf8_replace(const char *text, size_t len, struct al_str *out);

/** The largest length <= `len` that does not cut a character of `text` in two.  `text[len]` is
 * read, so the text is longer than `len` or ends with a NUL there. */
size_t al_utf8_floor(const char *text, size_t len);

#endif
