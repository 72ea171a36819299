// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/cells.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "guard/text.h"
#include "util/utf8.h"

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
