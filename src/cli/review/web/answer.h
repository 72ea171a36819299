// SPDX-License-Identifier: Apache-2.0
/*
 * Answers of the page.  Each has the headers that keep other pages from showing, reading or
 * steering this one.
 *
 * Threads: any.  Source: Content Security Policy Level 3; Fetch Standard, 3.7.
 */
#ifndef AL_CLI_REVIEW_WEB_ANSWER_H
#define AL_CLI_REVIEW_WEB_ANSWER_H

#include "http/server.h"
#include "util/str.h"

/** Status codes of RFC 9110. */
enum al_web_status {
    AL_WEB_OK = 200,
    AL_WEB_SEE_OTHER = 303,
    AL_WEB_BAD_REQUEST = 400,
    AL_WEB_FORBIDDEN = 403,
    AL_WEB_NOT_FOUND = 404,
    AL_WEB_METHOD_NOT_ALLOWED = 405,
    AL_WEB_CONFLICT = 409,
    AL_WEB_TOO_LARGE = 413,
    AL_WEB_FAILED = 500,
    AL_WEB_UNAVAILABLE = 503,
};

/** Give the answer to a request the headers of the page.  Once for each exchange, before the
 * answer. */
void al_web_add_headers(struct al_http_exchange *exchange);

/** Answer with a page. */
void al_web_answer_page(struct al_http_exchange *exchange, enum al_web_status status,
                        const struct al_str *page);

/** Answer with a page that has one sentence, any text, and a heading after the status. */
void al_web_answer_message(struct al_http_exchange *exchange, enum al_web_status status,
                           const char *sentence);

/** The same for somebody who may not see /review, so it has no link to it. */
void al_web_refuse(struct al_http_exchange *exchange, enum al_web_status status,
                   const char *sentence);

/** Send the browser to another page of this server. */
void al_web_answer_elsewhere(struct al_http_exchange *exchange, const char *path);

/** Answer with a file of the program's own. */
void al_web_answer_file(struct al_http_exchange *exchange, const char *type, const char *text);

#endif
