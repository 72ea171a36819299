// SPDX-License-Identifier: Apache-2.0
/*
 * A long text in a page: its lines with the classes of their kinds, and the links to its other
 * pages.
 */
#ifndef AL_CLI_REVIEW_WEB_PAGE_TEXT_H
#define AL_CLI_REVIEW_WEB_PAGE_TEXT_H

#include <stddef.h>

#include "util/str.h"

/** A text, and which part of it is shown.  Borrowed. */
struct al_page_text {
    const char *text;
    size_t len;
    const char *path;  /**< of the page, safe in HTML: "/review/3f2a9c10" */
    const char *label; /**< what it is, for a screen reader: "Text of the question" */
    size_t page;       /**< from 0; one that there is not is the last */
};

/** Append the page of a text.  It says which part of the whole it is, and links to the others. */
void al_page_add_text(const struct al_page_text *text, struct al_str *out);

/** Append at most `max_lines` lines of a text; then how many there are in all, with a link to
 * `path`. */
void al_page_add_excerpt(const struct al_page_text *text, size_t max_lines, struct al_str *out);

#endif
