// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/answer.h"

#include <string.h>

#include "cli/review/web/page.h"

void al_web_add_headers(struct al_http_exchange *exchange)
{
    static const struct al_http_header headers[] = {
        { "Content-Security-Policy",
          "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'" },
        { "X-Frame-Options", "DENY" },
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cache-Control", "no-store" },
    };

    for (size_t i = 0; i < AL_COUNT(headers); i++)
        al_http_add_header(exchange, headers[i].name, headers[i].value);
}

static void answer(struct al_http_exchange *exchange, enum al_web_status status, const char *type,
                   const char *text, size_t len)
{
    const struct al_http_header headers[] = { { "Content-Type", type } };

    al_http_answer(exchange, status, headers, AL_COUNT(headers), text, len);
}

void al_web_answer_page(struct al_http_exchange *exchange, enum al_web_status status,
                        const struct al_str *page)
{
    answer(exchange, status, "text/html; charset=utf-8", page->buf, page->len);
}

static const char *heading_of(enum al_web_status status)
{
    static const struct {
        enum al_web_status status;
        const char *heading;
    } headings[] = {
        { AL_WEB_BAD_REQUEST, "This request is wrong" },
        { AL_WEB_FORBIDDEN, "This is not allowed" },
        { AL_WEB_NOT_FOUND, "There is no such page" },
        { AL_WEB_METHOD_NOT_ALLOWED, "This page takes no such request" },
        { AL_WEB_CONFLICT, "Nothing was done" },
        { AL_WEB_TOO_LARGE, "This is too much" },
        { AL_WEB_FAILED, "This failed" },
        { AL_WEB_UNAVAILABLE, "Not now" },
    };

    for (size_t i = 0; i < AL_COUNT(headings); i++)
        if (headings[i].status == status)
            return headings[i].heading;
    return "airlock review";
}

static void answer_sentence(struct al_http_exchange *exchange, enum al_web_status status,
                            const char *sentence, bool with_link)
{
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;

    al_page_message(heading_of(status), sentence, with_link, &page);
    al_web_answer_page(exchange, status, &page);
}

void al_web_answer_message(struct al_http_exchange *exchange, enum al_web_status status,
                           const char *sentence)
{
    answer_sentence(exchange, status, sentence, true);
}

void al_web_refuse(struct al_http_exchange *exchange, enum al_web_status status,
                   const char *sentence)
{
    answer_sentence(exchange, status, sentence, false);
}

void al_web_answer_elsewhere(struct al_http_exchange *exchange, const char *path)
{
    const struct al_http_header headers[] = { { "Location", path } };

    al_http_answer(exchange, AL_WEB_SEE_OTHER, headers, AL_COUNT(headers), "", 0);
}

void al_web_answer_file(struct al_http_exchange *exchange, const char *type, const char *text)
{
    answer(exchange, AL_WEB_OK, type, text, strlen(text));
}
