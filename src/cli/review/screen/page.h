// SPDX-License-Identifier: Apache-2.0
/*
 * The text on the right: lines about the entry, then its text.  Lines are wrapped, so nothing is
 * out of sight at the side; only what is visible is laid out, however long the text is.
 *
 * Threads: one.
 */
#ifndef AL_CLI_REVIEW_SCREEN_PAGE_H
#define AL_CLI_REVIEW_SCREEN_PAGE_H

#include <stddef.h>

#include "cli/review/lines.h"
#include "util/str.h"

/** Lines between two places from which a text is read again. */
#define AL_PAGE_STRIDE 128

/** The first visible row: of a line, counted from its beginning. */
struct al_page_top {
    size_t line, row;
};

/** Set up with AL_PAGE_INIT. */
struct al_page {
    struct al_strv about;           /**< the first lines; the very first is the heading */
    struct al_str text;             /**< the rest */
    struct al_review_cutter *marks; /* at each AL_PAGE_STRIDE-th line of the text */
    size_t nmarks, nlines;          /* of the text */
    struct al_page_top top;
};

#define AL_PAGE_INIT ((struct al_page){ .about = AL_STRV_INIT, .text = AL_STR_INIT, .marks = NULL })

void al_page_clear(struct al_page *page);

/** Replace the text.  The place stays as far as there is such a line. */
void al_page_set_text(struct al_page *page, const char *text, size_t len);

/** All lines, those about the entry included. */
size_t al_page_lines(const struct al_page *page);

/** A row that is seen. */
struct al_page_row {
    const char *text; /**< borrowed; not made safe */
    size_t len;
    enum al_review_line_kind kind;
    bool is_about, is_heading;
};

/** The rows that are seen.  Returns how many there are, at most `nrows`. */
size_t al_page_rows(const struct al_page *page, size_t columns, size_t nrows,
                    struct al_page_row *ret_rows);

/** Move by rows, backwards if negative.  The last row does not come above the last of `nrows`. */
void al_page_scroll(struct al_page *page, size_t columns, size_t nrows, long by);

/** Move to the beginning or to the end. */
void al_page_to_begin(struct al_page *page);
void al_page_to_end(struct al_page *page, size_t columns, size_t nrows);

#endif
