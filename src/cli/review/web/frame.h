// SPDX-License-Identifier: Apache-2.0
/* What is around every page: head, heading and notice. */
#ifndef AL_CLI_REVIEW_WEB_FRAME_H
#define AL_CLI_REVIEW_WEB_FRAME_H

#include "cli/review/web/page.h"

/** What the head of a page is made of.  Borrowed. */
struct al_page_head {
    const char *title;  /**< any text */
    bool is_live;       /**< it has the script */
    unsigned refresh_s; /**< it loads itself again after this time in seconds; 0: it does not */
    bool has_way_back;  /**< it links to /review */
};

/** Append everything up to the contents of `body`. */
void al_page_begin(const struct al_page_head *head, struct al_str *out);

/** Append the end of the page. */
void al_page_end(struct al_str *out);

/** Append notice and problem, where there are any. */
void al_page_add_notices(const struct al_page_frame *frame, struct al_str *out);

/** Append the hidden field of a form. */
void al_page_add_csrf(const struct al_page_frame *frame, struct al_str *out);

#endif
