// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/html.h"

#include <stdlib.h>
#include <string.h>

#include "guard/text.h"

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
