// SPDX-License-Identifier: Apache-2.0
/*
 * For guard/ only: classes of characters, shared by the sanitizer and the JSON escaper.
 *
 * A plain character is visible, printable and neither a control nor broken UTF-8: it can be copied
 * unchanged.
 */
#ifndef AL_GUARD_CHAR_CLASS_H
#define AL_GUARD_CHAR_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** U+FFFD in UTF-8: replaces bytes that are not UTF-8. */
#define AL_CHAR_REPLACEMENT "\xef\xbf\xbd"

/** Test whether a character is invisible: bidi controls, joiners, selectors, fillers, tags,
 * separators.
 */
bool al_char_is_invisible(uint32_t c);

/** Test whether a byte continues a UTF-8 character. */
bool al_char_continues(char byte);

/** The number of bytes at the beginning of a text that are plain characters, tabs and newlines.
 * May stop early, at a plain character. */
size_t al_char_plain_run(const char *text, size_t len);

#endif
