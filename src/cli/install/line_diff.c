// SPDX-License-Identifier: Apache-2.0
#include "cli/install/line_diff.h"

#include <string.h>

#define CONTEXT 3

/** The lines of a text; the last one may have no newline. */
struct lines {
    const char *at[2]; /* of the part that is left: begin and end */
};

static struct lines lines_of(const struct al_str *text)
{
    const char *buf = text && text->buf ? text->buf : "";

    return (struct lines){ { buf, buf + (text ? text->len : 0) } };
}

/* The length of the first line, with its newline. */
static size_t first_line(const struct lines *lines)
{
    const char *end = memchr(lines->at[0], '\n', (size_t)(lines->at[1] - lines->at[0]));

    return (size_t)((end ? end + 1 : lines->at[1]) - lines->at[0]);
}

static size_t last_line(const struct lines *lines)
{
    const char *begin = lines->at[1];

    if (begin > lines->at[0])
        begin--;
    while (begin > lines->at[0] && begin[-1] != '\n')
        begin--;
    return (size_t)(lines->at[1] - begin);
}

/* Take equal lines off one end of both texts, and return how many. */
static size_t take_equal(struct lines *a, struct lines *b, bool first)
{
    size_t count = 0, len;

    for (;; count++) {
        len = first ? first_line(a) : last_line(a);
        if (!len || len != (first ? first_line(b) : last_line(b)) ||
            memcmp(first ? a->at[0] : a->at[1] - len, first ? b->at[0] : b->at[1] - len, len) != 0)
            return count;
        a->at[0] += first ? len : 0;
        b->at[0] += first ? len : 0;
        a->at[1] -= first ? 0 : len;
        b->at[1] -= first ? 0 : len;
    }
}

static size_t add_lines(struct lines lines, char mark, size_t max, struct al_str *out)
{
    size_t count = 0, len;

    while (count < max && (len = first_line(&lines))) {
        al_str_addc(out, mark);
        al_str_add(out, lines.at[0], len);
        if (lines.at[0][len - 1] != '\n')
            al_str_adds(out, "\n\\ No newline at end of file\n");
        lines.at[0] += len;
        count++;
    }
    return count;
}

/* The last lines of the text that ends at `end`. */
static struct lines lines_before(const char *begin, const char *end, size_t count)
{
    struct lines before = { { end, end } }, rest = { { begin, end } };

    while (count-- && rest.at[1] > rest.at[0]) {
        rest.at[1] -= last_line(&rest);
        before.at[0] = rest.at[1];
    }
    return before;
}

static void add_range(char mark, size_t line, size_t count, struct al_str *out)
{
    al_str_addf(out, "%s%c%zu,%zu", mark == '-' ? "@@ " : " ", mark, line, count);
}

void al_line_diff(const char *name, const struct al_str *before, const struct al_str *after,
                  struct al_str *out)
{
    struct lines a = lines_of(before), b = lines_of(after);
    const char *begin = a.at[0], *end = a.at[1];
    const size_t same = take_equal(&a, &b, true);
    const size_t line = same < CONTEXT ? 1 : same - CONTEXT + 1;
    size_t around, old = 0, new = 0;
    al_auto(al_str_clear) struct al_str body = AL_STR_INIT;

    (void)take_equal(&a, &b, false);
    around = add_lines(lines_before(begin, a.at[0], CONTEXT), ' ', CONTEXT, &body);
    old = add_lines(a, '-', SIZE_MAX, &body);
    new = add_lines(b, '+', SIZE_MAX, &body);
    around += add_lines((struct lines){ { a.at[1], end } }, ' ', CONTEXT, &body);
    al_str_addf(out, "--- %s\n+++ %s\n", before ? name : "/dev/null", after ? name : "/dev/null");
    add_range('-', before ? line : 0, old + around, out);
    add_range('+', after ? line : 0, new + around, out);
    al_str_adds(out, " @@\n");
    al_str_add(out, body.buf, body.len);
}
