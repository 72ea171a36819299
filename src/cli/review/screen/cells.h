// SPDX-License-Identifier: Apache-2.0
/*
 * Any text, cut to the columns of a terminal.  Everything that the screen writes comes through
 * here, so nothing else reaches the terminal than visible characters whose width is known:
 *
 *   shown as <U+202E>   controls, invisible characters, bidi controls, characters without a width,
 *                       combining characters without a base or beyond AL_CELLS_MARKS_MAX on one;
 *                       in a locale that is not UTF-8, everything but ASCII
 *   shown as U+FFFD     a byte that is not UTF-8 ("?" in such a locale)
 *   blanks              a tab, up to the next multiple of 8
 *
 * Source: wcwidth(3), guard/char_class.h.
 */
#ifndef AL_CLI_REVIEW_SCREEN_CELLS_H
#define AL_CLI_REVIEW_SCREEN_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

/** Combining characters on one base. */
#define AL_CELLS_MARKS_MAX 2

/** The columns of the widest thing that is not cut in two, <U+10FFFF>. */
#define AL_CELLS_WIDEST 10

/** Use the locale of the environment for the characters of the terminal.  Once, before the rest;
 * without it everything but ASCII is escaped. */
void al_cells_use_locale(void);

/**
 * Append as much of a text as fits.  A newline is a control here.
 *
 * @param columns      At least AL_CELLS_WIDEST; with fewer, something may not fit at all.
 * @param out          May be NULL: only measure.
 * @param ret_columns  The columns that it takes; may be NULL.
 * @return the bytes of the text that were used.
 */
size_t al_cells_cut(const char *text, size_t len, size_t columns, struct al_str *out,
                    size_t *ret_columns);

/** Append a text in exactly this many columns: with blanks behind it, or cut, with a mark that says
 * so. */
void al_cells_fit(const char *text, size_t columns, struct al_str *out);

/** The same without the blanks.  Returns the columns that it takes. */
size_t al_cells_shorten(const char *text, size_t columns, struct al_str *out);

#endif
