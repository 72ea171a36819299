// SPDX-License-Identifier: Apache-2.0
/* Any text in rows and columns. */
#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "guard/text.h"
#include "review/screen/private.h"

#define TAB_COLUMNS 8

static bool is_utf8; /* the terminal's characters */

void al_cells_use_locale(void)
{
    (void)setlocale(LC_CTYPE, "");
    is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* One thing that is shown: a character with what combines with it, or what stands for it. */
struct cell {
    size_t used; /* bytes of the text */
    size_t columns;
    char instead[16]; /* shown in place of the bytes; "": the bytes themselves */
};

/* Whether a character can be written as it is.  The sanitizer knows what is invisible. */
static bool is_shown(const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    al_text_sanitize_shown(text, len, &safe);
    return safe.len == len && !memcmp(safe.buf, text, len);
}

static struct cell escaped(uint32_t c, size_t used)
{
    struct cell cell = { .used = used };
    const int n = snprintf(cell.instead, sizeof(cell.instead), "<U+%04X>", (unsigned)c);

    cell.columns = (size_t)n;
    return cell;
}

static struct cell broken(void)
{
    struct cell cell = { .used = 1, .columns = 1 };

    memcpy(cell.instead, is_utf8 ? "\xef\xbf\xbd" : "?", is_utf8 ? 4 : 2);
    return cell;
}

/* The combining characters behind a base. */
static size_t marks_of(const char *text, size_t len)
{
    size_t used = 0;
    uint32_t c;

    for (unsigned i = 0; i < AL_CELLS_MARKS_MAX; i++) {
        const int n = al_utf8_next(text + used, len - used, &c);

        if (n <= 1 || wcwidth((wchar_t)c) != 0 || !is_shown(text + used, (size_t)n))
            break;
        used += (size_t)n;
    }
    return used;
}

static struct cell next_cell(const char *text, size_t len, size_t at_column)
{
    struct cell cell = { .used = 1, .columns = 1 };
    uint32_t c;
    int n, columns;

    if (*text >= ' ' && *text < 0x7f && (len == 1 || (unsigned char)text[1] < 0x80))
        return cell;
    if (*text == '\t') {
        cell.columns = TAB_COLUMNS - at_column % TAB_COLUMNS;
        memset(cell.instead, ' ', cell.columns);
        return cell;
    }
    n = al_utf8_next(text, len, &c);
    if (n <= 0)
        return broken();
    if (c > 0x7f && (!is_utf8 || !is_shown(text, (size_t)n)))
        return escaped(c, (size_t)n);
    columns = c < ' ' || c == 0x7f ? -1 : wcwidth((wchar_t)c);
    if (columns <= 0)
        return escaped(c, (size_t)n);
    cell.columns = (size_t)columns;
    cell.used = (size_t)n;
    if (is_utf8)
        cell.used += marks_of(text + n, len - (size_t)n);
    return cell;
}

size_t al_cells_cut(const char *text, size_t len, size_t columns, struct al_str *out,
                    size_t *ret_columns)
{
    size_t used = 0, taken = 0;

    while (used < len) {
        const struct cell cell = next_cell(text + used, len - used, taken);

        if (taken + cell.columns > columns)
            break;
        if (out && *cell.instead)
            al_str_adds(out, cell.instead);
        else if (out)
            al_str_add(out, text + used, cell.used);
        used += cell.used;
        taken += cell.columns;
    }
    if (ret_columns)
        *ret_columns = taken;
    return used;
}

size_t al_cells_shorten(const char *text, size_t columns, struct al_str *out)
{
    const size_t len = strlen(text);
    const char *mark = is_utf8 ? "\u2026" : ">";
    size_t taken;

    if (columns == 0)
        return 0;
    if (al_cells_cut(text, len, columns, NULL, NULL) == len) {
        (void)al_cells_cut(text, len, columns, out, &taken);
        return taken;
    }
    (void)al_cells_cut(text, len, columns - 1, out, &taken);
    al_str_adds(out, mark);
    return taken + 1;
}

void al_cells_fit(const char *text, size_t columns, struct al_str *out)
{
    for (size_t taken = al_cells_shorten(text, columns, out); taken < columns; taken++)
        al_str_addc(out, ' ');
}

/* --- The text of an entry --- */

void al_page_clear(struct al_page *page)
{
    al_strv_clear(&page->head);
    al_strv_clear(&page->facts);
    al_str_clear(&page->text);
    free(page->lines);
    free(page->rows);
    *page = AL_PAGE_INIT;
}

static void add_lines(const struct al_strv *texts, enum al_review_line_kind first,
                      struct al_page *page)
{
    for (size_t i = 0; i < texts->count; i++)
        page->lines[page->nlines++] = (struct al_review_line){ .text = texts->items[i],
                                                               .len = strlen(texts->items[i]),
                                                               .kind = i ? AL_LINE_FACT : first };
}

void al_page_set_text(struct al_page *page, const char *text, size_t len)
{
    al_auto(al_freep) struct al_review_line *cut = NULL;
    struct al_str copy = AL_STR_INIT;
    size_t count;

    al_str_add(&copy, text, len);
    al_str_clear(&page->text);
    page->text = copy;
    count = al_review_cut(copy.buf, copy.len, &cut);
    page->nlines = 0;
    page->lines = al_reallocarray(page->lines, count + page->head.count + page->facts.count + 1,
                                  sizeof(*page->lines));
    add_lines(&page->head, AL_LINE_TITLE, page);
    if (count)
        memcpy(page->lines + page->nlines, cut, count * sizeof(*cut));
    page->nlines += count;
    add_lines(&page->facts, AL_LINE_FACT, page);
    page->columns = 0;
}

/* Wrap the lines for this width, unless they are.  The same line stays on top, if there is one. */
static void wrap(struct al_page *page, size_t columns)
{
    const struct al_page_row top =
        page->nrows ? page->rows[page->top] : (struct al_page_row){ .line = 0 };

    if (columns < AL_CELLS_WIDEST) /* of a terminal that is too small nothing is seen */
        columns = AL_CELLS_WIDEST;
    if (page->columns == columns)
        return;
    page->columns = columns;
    page->nrows = page->top = 0;
    for (size_t i = 0; i < page->nlines; i++) {
        const struct al_review_line *line = &page->lines[i];
        size_t at = 0;

        do {
            const size_t len = al_cells_cut(line->text + at, line->len - at, columns, NULL, NULL);

            if (i == top.line && at <= top.begin)
                page->top = page->nrows;
            page->rows = al_grow(page->rows, page->nrows, sizeof(*page->rows));
            page->rows[page->nrows++] = (struct al_page_row){ i, at, len };
            at += len;
        } while (at < line->len);
    }
}

size_t al_page_rows(struct al_page *page, size_t columns, size_t max,
                    const struct al_page_row **ret_rows)
{
    size_t left;

    wrap(page, columns);
    left = page->nrows - page->top;
    *ret_rows = page->rows + page->top;
    return left < max ? left : max;
}

void al_page_scroll(struct al_page *page, size_t columns, size_t height, long by)
{
    long last, top;

    wrap(page, columns);
    last = page->nrows > height ? (long)(page->nrows - height) : 0;
    top = (long)page->top + by;
    page->top = (size_t)(top < 0 ? 0 : top < last ? top : last);
}
