// SPDX-License-Identifier: Apache-2.0
/* Safe text, cut to the length that a user or a model is shown: a line, a list, a diff, an answer.
 */
#include "guard/text.h"

#include <inttypes.h>
#include <string.h>

#include "util/utf8.h"

#define EXCERPT_MAX_LINES 200
#define EXCERPT_MAX_BYTES ((size_t)16 * 1024)

/* The bytes before one that must be shown in another way. */
static size_t span_plain(const char *name)
{
    size_t len = 0;

    while (name[len] && !strchr("\t\n\r", name[len]) && !al_utf8_escaped_byte(name + len))
        len++;
    return len;
}

/* Append one name: what would pass for another line or column is shown as <U+000A>, and a byte that
 * is not UTF-8 as <E9>, so that two names never look alike because of it; see al_utf8_escape(). */
static void add_name(const char *name, bool show_controls, struct al_str *out)
{
    struct al_text text = AL_TEXT_INIT(SIZE_MAX);

    text.out = *out;
    text.show_controls = show_controls;
    text.show_bytes = true;
    while (*name) {
        size_t len = span_plain(name);

        (void)al_text_add(&text, name, len);
        al_text_end(&text);
        name += len;
        if (*name)
            al_str_addf(&text.out, *name == '<' ? "<%02X>" : "<U+%04X>", (unsigned)*name);
        name += *name != '\0';
    }
    *out = text.out;
}

char *al_text_sanitize_line(const char *data)
{
    struct al_str text = AL_STR_INIT;

    add_name(data, false, &text);
    return al_str_detach(&text);
}

void al_text_add_shown_line(const char *data, struct al_str *out)
{
    add_name(data, true, out);
}

char *al_text_sanitize_shown_line(const char *data)
{
    struct al_str text = AL_STR_INIT;

    al_text_add_shown_line(data, &text);
    return al_str_detach(&text);
}

/* Make one line of a text: newlines and tabs become spaces. */
static char *one_line(struct al_str *text)
{
    size_t len = 0;

    for (size_t i = 0; i < text->len; i++) {
        char c = text->buf[i];

        if (c == '\n' || c == '\t')
            c = ' ';
        if (c != '\r')
            text->buf[len++] = c;
    }
    al_str_truncate(text, len);
    return al_str_detach(text);
}

char *al_text_join_lines(const char *data)
{
    struct al_str text = AL_STR_INIT;

    al_text_sanitize(data, strlen(data), &text);
    return one_line(&text);
}

char *al_text_join_shown_lines(const char *data)
{
    struct al_str text = AL_STR_INIT;

    al_text_sanitize_shown(data, strlen(data), &text);
    return one_line(&text);
}

bool al_text_truncate(struct al_str *text, size_t max_bytes)
{
    const size_t marker = strlen(AL_TEXT_MARKER);

    if (text->len <= max_bytes)
        return false;
    al_str_truncate(text, max_bytes > marker ? al_utf8_floor(text->buf, max_bytes - marker) : 0);
    al_str_adds(text, AL_TEXT_MARKER);
    return true;
}

void al_text_add_list(struct al_str *out, const struct al_strv *items, size_t max_items)
{
    for (size_t i = 0; i < items->count && i < max_items; i++) {
        al_str_adds(out, i ? ", " : "");
        al_text_add_shown_line(items->items[i], out);
    }
    if (items->count > max_items)
        al_str_adds(out, "...");
}

static size_t count_lines(const char *text, size_t len)
{
    const char *end = text + len;
    size_t lines = 0;

    while (text < end) {
        const char *eol = memchr(text, '\n', (size_t)(end - text));

        lines++;
        text = eol ? eol + 1 : end;
    }
    return lines;
}

/* The number of bytes of `text` that are shown, in whole lines; *ret_lines is the number of lines.
 * A first line that is too long is cut and not counted. */
static size_t shown_length(const struct al_str *text, size_t *ret_lines)
{
    size_t at = 0, lines = 0;

    while (at < text->len && lines < EXCERPT_MAX_LINES) {
        const char *eol = memchr(text->buf + at, '\n', text->len - at);
        size_t next = eol ? (size_t)(eol - text->buf) + 1 : text->len;

        if (next > EXCERPT_MAX_BYTES)
            break;
        at = next;
        lines++;
    }
    *ret_lines = lines;
    if (at == 0 && text->len)
        return al_utf8_floor(text->buf, EXCERPT_MAX_BYTES);
    return at;
}

size_t al_text_add_head(struct al_str *out, const char *data, size_t len)
{
    al_auto(al_text_clear) struct al_text text = AL_TEXT_INIT(EXCERPT_MAX_BYTES);
    size_t shown, lines;

    text.show_controls = true;
    (void)al_text_add(&text, data, len);
    al_text_end(&text);
    shown = shown_length(&text.out, &lines);
    al_str_add(out, text.out.buf, shown);
    if (shown && text.out.buf[shown - 1] != '\n')
        al_str_addc(out, '\n');
    return lines;
}

void al_text_add_remaining(struct al_str *out, uint64_t left, bool more)
{
    if (left == 0 && more)
        left = 1; /* something was cut off */
    if (left)
        al_str_addf(out, "… %s%" PRIu64 " more line%s\n", more ? "at least " : "", left,
                    left == 1 ? "" : "s");
}

void al_text_add_excerpt(struct al_str *out, const char *diff, size_t len, bool more)
{
    const size_t before = out->len;
    /* Sanitizing keeps every line break, so lines can be counted in the input. */
    size_t left = count_lines(diff, len) - al_text_add_head(out, diff, len);

    if (!left && !more && len && diff[len - 1] != '\n' && out->len > before)
        al_str_truncate(out, out->len - 1); /* ends as the input does */
    al_text_add_remaining(out, left, more);
}

void al_text_add_indented(struct al_str *out, const char *text, bool in_full)
{
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    al_text_sanitize_shown(text, strlen(text), &shown);
    for (const char *at = shown.buf; *at;) {
        size_t len = strcspn(at, "\n");

        al_str_addf(&lines, "    %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
    if (in_full)
        al_str_add(out, lines.buf, lines.len);
    else
        al_text_add_excerpt(out, lines.buf, lines.len, false);
}
