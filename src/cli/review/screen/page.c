// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/review/screen/cells.h"

void al_page_clear(struct al_page *page)
{
    al_strv_clear(&page->about);
    al_str_clear(&page->text);
    free(page->marks);
    *page = AL_PAGE_INIT;
}

size_t al_page_lines(const struct al_page *page)
{
    return page->about.count + page->nlines;
}

void al_page_set_text(struct al_page *page, const char *text, size_t len)
{
    struct al_review_cutter cutter, before;
    struct al_review_line line;

    al_str_clear(&page->text);
    al_str_add(&page->text, text, len);
    page->nlines = page->nmarks = 0;
    cutter = AL_REVIEW_CUTTER_INIT(page->text.buf, page->text.len);
    for (before = cutter; al_review_cutter_next(&cutter, &line); before = cutter) {
        if (page->nlines++ % AL_PAGE_STRIDE)
            continue;
        if (page->nmarks % AL_PAGE_STRIDE == 0)
            page->marks =
                al_reallocarray(page->marks, page->nmarks + AL_PAGE_STRIDE, sizeof(*page->marks));
        page->marks[page->nmarks++] = before;
    }
    if (page->top.line >= al_page_lines(page))
        al_page_to_begin(page);
}

/* Where lines are read one after the other. */
struct reader {
    const struct al_page *page;
    size_t next; /* line */
    struct al_review_cutter cutter;
};

static struct reader read_from(const struct al_page *page, size_t line)
{
    struct reader reader = { .page = page, .next = line };
    const size_t of_text = line < page->about.count ? 0 : line - page->about.count;
    struct al_review_line skipped;

    if (of_text / AL_PAGE_STRIDE >= page->nmarks)
        return reader;
    reader.cutter = page->marks[of_text / AL_PAGE_STRIDE];
    for (size_t i = 0; i < of_text % AL_PAGE_STRIDE; i++)
        (void)al_review_cutter_next(&reader.cutter, &skipped);
    return reader;
}

static bool read_line(struct reader *reader, struct al_page_row *ret)
{
    const struct al_page *page = reader->page;
    struct al_review_line line;

    *ret = (struct al_page_row){ .kind = AL_LINE_NOTE };
    if (reader->next < page->about.count) {
        ret->text = page->about.items[reader->next];
        ret->len = strlen(ret->text);
        ret->is_about = true;
        ret->is_heading = reader->next == 0;
    } else {
        if (reader->next >= al_page_lines(page) || !al_review_cutter_next(&reader->cutter, &line))
            return false;
        ret->text = line.text;
        ret->len = line.len;
        ret->kind = line.kind;
    }
    reader->next++;
    return true;
}

/* The length of the first row of a line. */
static size_t row_of(const char *text, size_t len, size_t columns)
{
    const size_t used = al_cells_cut(text, len, columns, NULL, NULL);

    return used || !len ? used : 1; /* always forward */
}

static size_t count_rows(const struct al_page_row *line, size_t columns)
{
    size_t at = 0, rows = 0;

    do {
        at += row_of(line->text + at, line->len - at, columns);
        rows++;
    } while (at < line->len);
    return rows;
}

/* The rows of the line with this number; 0: there is no such line. */
static size_t rows_of(const struct al_page *page, size_t number, size_t columns)
{
    struct reader reader = read_from(page, number);
    struct al_page_row line;

    return read_line(&reader, &line) ? count_rows(&line, columns) : 0;
}

/* The rows of one line from its row `skip` on, at most `nrows`. */
static size_t add_rows(const struct al_page_row *line, size_t columns, size_t skip, size_t nrows,
                       struct al_page_row *ret_rows)
{
    size_t at = 0, count = 0;

    do {
        const size_t len = row_of(line->text + at, line->len - at, columns);

        if (skip) {
            skip--;
        } else {
            ret_rows[count] = *line;
            ret_rows[count].text += at;
            ret_rows[count++].len = len;
        }
        at += len;
    } while (at < line->len && count < nrows);
    return count;
}

size_t al_page_rows(const struct al_page *page, size_t columns, size_t nrows,
                    struct al_page_row *ret_rows)
{
    struct reader reader = read_from(page, page->top.line);
    size_t count = 0, skip = page->top.row;
    struct al_page_row line;

    for (; count < nrows && read_line(&reader, &line); skip = 0)
        count += add_rows(&line, columns, skip, nrows - count, ret_rows + count);
    return count;
}

static void go_back(const struct al_page *page, size_t columns, struct al_page_top *top)
{
    if (top->row > 0) {
        top->row--;
    } else if (top->line > 0) {
        top->line--;
        top->row = rows_of(page, top->line, columns) - 1;
    }
}

static void go_forward(const struct al_page *page, size_t columns, struct al_page_top *top)
{
    if (top->row + 1 < rows_of(page, top->line, columns))
        top->row++;
    else if (top->line + 1 < al_page_lines(page))
        *top = (struct al_page_top){ .line = top->line + 1 };
}

void al_page_to_begin(struct al_page *page)
{
    page->top = (struct al_page_top){ .line = 0 };
}

/* The place from which the last rows are seen. */
static struct al_page_top last_top(const struct al_page *page, size_t columns, size_t nrows)
{
    struct al_page_top top = { .line = al_page_lines(page) };

    for (size_t i = 0; i < nrows; i++)
        go_back(page, columns, &top);
    return top;
}

void al_page_to_end(struct al_page *page, size_t columns, size_t nrows)
{
    page->top = last_top(page, columns, nrows);
}

static bool is_after(const struct al_page_top *a, const struct al_page_top *b)
{
    return a->line > b->line || (a->line == b->line && a->row > b->row);
}

void al_page_scroll(struct al_page *page, size_t columns, size_t nrows, long by)
{
    const struct al_page_top last = last_top(page, columns, nrows);
    const size_t rows = rows_of(page, page->top.line, columns);

    if (page->top.row >= rows) /* the terminal became wider */
        page->top.row = rows ? rows - 1 : 0;
    for (; by > 0 && is_after(&last, &page->top); by--)
        go_forward(page, columns, &page->top);
    for (; by < 0 && (page->top.line || page->top.row); by++)
        go_back(page, columns, &page->top);
    if (is_after(&page->top, &last))
        page->top = last;
}
