// SPDX-License-Identifier: Apache-2.0
#include "cli/frame.h"

#include <string.h>
#include <sys/ioctl.h>

/* "│ " in front and " │" behind. */
#define BORDER_COLUMNS 4

/* A line goes on this far to the right. */
#define INDENT 6

size_t al_frame_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* The number of characters. */
static size_t width_of(const char *text, size_t len)
{
    size_t width = 0;

    for (size_t i = 0; i < len; i++)
        width += (text[i] & 0xc0) != 0x80;
    return width;
}

/* The bytes of at most `width` characters. */
static size_t bytes_of(const char *text, size_t len, size_t width)
{
    size_t i = 0;

    while (i < len) {
        size_t next = i + 1;

        while (next < len && (text[next] & 0xc0) == 0x80)
            next++;
        if (!width--)
            break;
        i = next;
    }
    return i;
}

static void add_edge(struct al_str *out, const char *left, const char *right, size_t inner)
{
    al_str_adds(out, left);
    for (size_t i = 0; i < inner + 2; i++)
        al_str_adds(out, "─");
    al_str_addf(out, "%s\n", right);
}

static void add_row(struct al_str *out, size_t indent, const char *text, size_t len, size_t inner)
{
    const size_t used = indent + width_of(text, len);

    al_str_addf(out, "│ %*s%.*s%*s │\n", (int)indent, "", (int)len, text,
                (int)(used < inner ? inner - used : 0), "");
}

static void add_line(struct al_str *out, const char *text, size_t len, size_t inner)
{
    size_t indent = 0;

    do {
        const size_t part = bytes_of(text, len, inner - indent);

        add_row(out, indent, text, part, inner);
        text += part;
        len -= part;
        indent = INDENT;
    } while (len);
}

static size_t longest(const char *text)
{
    size_t most = 0;

    for (const char *at = text; *at;) {
        const size_t len = strcspn(at, "\n"), width = width_of(at, len);

        most = width > most ? width : most;
        at += len + (at[len] == '\n');
    }
    return most;
}

void al_frame_add(struct al_str *out, const char *text, size_t columns)
{
    size_t inner = longest(text);

    if (!columns || columns > AL_FRAME_MAX_COLUMNS)
        columns = AL_FRAME_MAX_COLUMNS;
    if (columns < AL_FRAME_MIN_COLUMNS)
        columns = AL_FRAME_MIN_COLUMNS;
    if (inner > columns - BORDER_COLUMNS)
        inner = columns - BORDER_COLUMNS;
    if (inner < AL_FRAME_MIN_COLUMNS - BORDER_COLUMNS)
        inner = AL_FRAME_MIN_COLUMNS - BORDER_COLUMNS;
    add_edge(out, "┌", "┐", inner);
    for (const char *at = text; *at;) {
        const size_t len = strcspn(at, "\n");

        add_line(out, at, len, inner);
        at += len + (at[len] == '\n');
    }
    add_edge(out, "└", "┘", inner);
}
