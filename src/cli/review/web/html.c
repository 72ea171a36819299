// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/html.h"

#include <stdlib.h>
#include <string.h>

#include "guard/text.h"

void al_page_begin(const struct al_page_head *head, struct al_str *out)
{
    al_str_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    al_html_add_line(head->title, out);
    al_str_adds(out, "</title>\n"
                     "<link rel=\"stylesheet\" href=\"/review/style.css\">\n");
    if (head->refresh_s)
        al_str_addf(out, "<meta http-equiv=\"refresh\" content=\"%u\">\n", head->refresh_s);
    if (head->is_live)
        al_str_adds(out, "<script src=\"/review/script.js\" defer></script>\n");
    al_str_adds(out, "</head>\n<body>\n<header class=\"top\"><strong>airlock review</strong>");
    if (head->has_way_back)
        al_str_adds(out, " <a href=\"/review\">All that waits</a>");
    if (head->is_live)
        al_str_adds(out, " <span id=\"live\" role=\"status\"></span>");
    al_str_adds(out, "</header>\n");
}

void al_page_end(struct al_str *out)
{
    al_str_adds(out, "</body>\n</html>\n");
}

static void add_notice(const char *text, bool is_bad, struct al_str *out)
{
    if (!text)
        return;
    al_str_addf(out, "<p class=\"notice%s\" role=\"%s\">", is_bad ? " bad" : "",
                is_bad ? "alert" : "status");
    al_html_add_line(text, out);
    al_str_adds(out, "</p>\n");
}

void al_page_add_notices(const struct al_page_frame *frame, struct al_str *out)
{
    add_notice(frame->notice, frame->notice_is_bad, out);
    add_notice(frame->problem, true, out);
}

void al_page_add_csrf(const struct al_page_frame *frame, struct al_str *out)
{
    al_str_adds(out, "<input type=\"hidden\" name=\"csrf\" value=\"");
    al_html_add_line(frame->csrf, out);
    al_str_adds(out, "\">\n");
}

void al_page_message(const char *heading, const char *sentence, bool with_link, struct al_str *out)
{
    al_page_begin(&(struct al_page_head){ .title = heading, .has_way_back = with_link }, out);
    al_str_adds(out, "<main class=\"message\">\n<h1>");
    al_html_add_line(heading, out);
    al_str_adds(out, "</h1>\n<p>");
    al_html_add_line(sentence, out);
    al_str_adds(out, "</p>\n</main>\n");
    al_page_end(out);
}

static void add_escaped(const char *text, size_t len, struct al_str *out)
{
    size_t begin = 0;

    for (size_t i = 0; i < len; i++) {
        const char *reference = text[i] == '&'    ? "&amp;"
                                : text[i] == '<'  ? "&lt;"
                                : text[i] == '>'  ? "&gt;"
                                : text[i] == '"'  ? "&quot;"
                                : text[i] == '\'' ? "&#39;"
                                                  : NULL;

        if (!reference)
            continue;
        al_str_add(out, text + begin, i - begin);
        al_str_adds(out, reference);
        begin = i + 1;
    }
    al_str_add(out, text + begin, len - begin);
}

void al_html_add(const char *text, size_t len, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    al_text_sanitize_shown(text, len, &safe);
    add_escaped(safe.buf, safe.len, out);
}

void al_html_add_line(const char *text, struct al_str *out)
{
    al_auto(al_freep) char *safe = al_text_join_shown_lines(text ? text : "");

    add_escaped(safe, strlen(safe), out);
}

/* Positions of "2026-01-31T12:00:00.120Z". */
enum { DATE_CHARS = 10, CLOCK_AT = 11, CLOCK_CHARS = 8, TIME_CHARS = CLOCK_AT + CLOCK_CHARS };

void al_html_add_time(const char *time, struct al_str *out)
{
    if (strlen(time) < TIME_CHARS || time[DATE_CHARS] != 'T') {
        al_html_add_line(time, out);
        return;
    }
    al_str_adds(out, "<time datetime=\"");
    al_html_add_line(time, out);
    al_str_adds(out, "\">");
    al_html_add(time, DATE_CHARS, out);
    al_str_addc(out, ' ');
    al_html_add(time + CLOCK_AT, CLOCK_CHARS, out);
    al_str_adds(out, " UTC</time>");
}

void al_html_add_fact(const char *label, const char *value, struct al_str *out)
{
    if (!value || !*value)
        return;
    al_str_addf(out, "<div><dt>%s</dt><dd>", label);
    al_html_add_line(value, out);
    al_str_adds(out, "</dd></div>\n");
}

void al_html_add_time_fact(const char *label, const char *time, struct al_str *out)
{
    if (!time || !*time)
        return;
    al_str_addf(out, "<div><dt>%s</dt><dd>", label);
    al_html_add_time(time, out);
    al_str_adds(out, "</dd></div>\n");
}
