// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/page_text.h"

#include <stdbool.h>

#include "cli/review/lines.h"
#include "cli/review/web/html.h"
#include "cli/review/web/page.h"

/* The part of a text that is shown, and how much there is in all. */
struct part {
    struct al_str body;
    size_t first, last;  /* its lines, from 1 */
    size_t lines, files; /* of the whole text */
    size_t pages;
};

/* Where the text is while it is read. */
struct reader {
    size_t page, lines, bytes; /* the page, and what it has so far */
    size_t max_lines;
    bool open; /* the element of a line is */
};

static const char *class_of(enum al_review_line_kind kind)
{
    static const char *const names[] = {
        [AL_LINE_NOTE] = "note",       [AL_LINE_STAT] = "stat",   [AL_LINE_FILE] = "file",
        [AL_LINE_META] = "meta",       [AL_LINE_HUNK] = "hunk",   [AL_LINE_ADDED] = "added",
        [AL_LINE_REMOVED] = "removed", [AL_LINE_CONTEXT] = "same"
    };

    return names[kind];
}

static void end_line(struct reader *reader, struct al_str *body)
{
    if (reader->open)
        al_str_adds(body, "\n</span>");
    reader->open = false;
}

static void add_line(const struct al_review_line *line, struct reader *reader, struct al_str *body)
{
    if (!line->continues || !reader->open) {
        end_line(reader, body);
        al_str_addf(body, "<span class=\"%s\">", class_of(line->kind));
        reader->open = true;
    }
    al_html_add(line->text, line->len, body);
}

/* Go to the next page if the line does not fit on this one. */
static void turn(struct reader *reader, const struct al_review_line *line)
{
    if (reader->lines &&
        (reader->lines >= reader->max_lines || reader->bytes + line->len > AL_PAGE_BYTES_MAX)) {
        reader->page++;
        reader->lines = reader->bytes = 0;
    }
    reader->bytes += line->len;
    reader->lines += !line->continues || !reader->lines;
}

static void read_part(const struct al_page_text *text, size_t page, size_t max_lines,
                      struct part *ret)
{
    struct al_review_cutter cutter = AL_REVIEW_CUTTER_INIT(text->text, text->len);
    struct reader reader = { .max_lines = max_lines };
    struct al_review_line line;

    *ret = (struct part){ .body = AL_STR_INIT };
    while (al_review_cutter_next(&cutter, &line)) {
        turn(&reader, &line);
        ret->lines += !line.continues;
        ret->files += line.kind == AL_LINE_FILE && !line.continues;
        if (reader.page != page)
            continue;
        ret->first = ret->first ? ret->first : ret->lines;
        ret->last = ret->lines;
        add_line(&line, &reader, &ret->body);
    }
    end_line(&reader, &ret->body);
    ret->pages = reader.page + 1;
}

static void add_body(const struct al_page_text *text, const struct part *part, struct al_str *out)
{
    al_str_addf(out, "<pre class=\"text\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">",
                text->label);
    al_str_add(out, part->body.buf, part->body.len);
    al_str_adds(out, "</pre>\n");
}

static void add_link(const struct al_page_text *text, const char *rel, const char *words,
                     size_t page, bool there, struct al_str *out)
{
    if (there)
        al_str_addf(out, "<a%s href=\"%s?page=%zu\">%s</a>\n", rel, text->path, page + 1, words);
    else
        al_str_addf(out, "<span class=\"off\">%s</span>\n", words);
}

static void add_pages(const struct al_page_text *text, const struct part *part, size_t page,
                      struct al_str *out)
{
    if (part->pages == 1)
        return;
    al_str_addf(out,
                "<nav class=\"pages\" aria-label=\"Pages of the text\">\n"
                "<span>Lines %zu to %zu of %zu, %zu file%s in all. Page %zu of %zu:</span>\n",
                part->first, part->last, part->lines, part->files, part->files == 1 ? "" : "s",
                page + 1, part->pages);
    add_link(text, "", "first", 0, page > 0, out);
    add_link(text, " rel=\"prev\"", "previous", page - 1, page > 0, out);
    add_link(text, " rel=\"next\"", "next", page + 1, page + 1 < part->pages, out);
    add_link(text, "", "last", part->pages - 1, page + 1 < part->pages, out);
    al_str_adds(out, "</nav>\n");
}

void al_page_add_text(const struct al_page_text *text, struct al_str *out)
{
    size_t page = text->page;
    struct part part;

    read_part(text, page, AL_PAGE_LINES_MAX, &part);
    if (page >= part.pages) {
        page = part.pages - 1;
        al_str_clear(&part.body);
        read_part(text, page, AL_PAGE_LINES_MAX, &part);
    }
    add_pages(text, &part, page, out);
    add_body(text, &part, out);
    add_pages(text, &part, page, out);
    al_str_clear(&part.body);
}

void al_page_add_excerpt(const struct al_page_text *text, size_t max_lines, struct al_str *out)
{
    struct part part;

    read_part(text, 0, max_lines, &part);
    add_body(text, &part, out);
    if (part.pages > 1)
        al_str_addf(out,
                    "<p class=\"more\">These are %zu of %zu lines. "
                    "<a href=\"%s\">Read it in full</a> before you answer.</p>\n",
                    part.last, part.lines, text->path);
    al_str_clear(&part.body);
}
