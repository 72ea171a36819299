// SPDX-License-Identifier: Apache-2.0
/*
 * Text in HTML: made safe as on a terminal with nothing removed, then escaped.  There is no other
 * way for a text that is not the program's own into a page.
 *
 * Threads: any.  Source: HTML Living Standard, 13.1.4 (character references).
 */
#ifndef AL_CLI_REVIEW_WEB_HTML_H
#define AL_CLI_REVIEW_WEB_HTML_H

#include <stddef.h>

#include "cli/review/web/page.h"
#include "util/str.h"

/** What the head of a page is made of.  Borrowed. */
struct al_page_head {
    const char *title;  /**< any text */
    bool is_live;       /**< it has the script */
    unsigned refresh_s; /**< it loads itself again after this time in seconds; 0: it does not */
    bool has_way_back;  /**< it links to /review */
};

/** Append a text of one or several lines, for an element or an attribute in double quotes. */
void al_html_add(const char *text, size_t len, struct al_str *out);

/** Append a text as one line: line ends and tabs become spaces.  NULL is the empty text. */
void al_html_add_line(const char *text, struct al_str *out);

/** Append a time of ISO 8601 in UTC as an element `time`: "2026-01-31 12:00:00 UTC". */
void al_html_add_time(const char *time, struct al_str *out);

/** Append a row of a list of facts (`dl`), unless the value is NULL or "". */
void al_html_add_fact(const char *label, const char *value, struct al_str *out);
void al_html_add_time_fact(const char *label, const char *time, struct al_str *out);

/** Append everything up to the contents of `body`. */
void al_page_begin(const struct al_page_head *head, struct al_str *out);

/** Append the end of the page. */
void al_page_end(struct al_str *out);

/** Append notice and problem, where there are any. */
void al_page_add_notices(const struct al_page_frame *frame, struct al_str *out);

/** Append the hidden field of a form. */
void al_page_add_csrf(const struct al_page_frame *frame, struct al_str *out);

#endif
