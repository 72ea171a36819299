// SPDX-License-Identifier: Apache-2.0
/*
 * The sanitizer: a state machine over characters, with a fast path for runs of ordinary text.
 *
 * Like a terminal (ECMA-48, and the parsers of xterm and the VT500): ESC, CAN, SUB and any C1
 * control abort the sequence they occur in, and ESC x with x from @ to _ is a C1 control.
 *
 * Unlike a terminal: a newline ends every sequence.  So an unterminated sequence hides at most the
 * rest of its line.
 */
#include "guard/text.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/utf8.h"

#define LARGEST_CHAR 0x10ffff

/* The longest is <U+10FFFF>. */
#define SHOWN_BYTES 16

/* Read a character that is shown; its length in `text`, or 0. */
static size_t read_one(const char *text, uint32_t *ret_char)
{
    char again[SHOWN_BYTES];
    unsigned long long c;

    if (!al_starts_with(text, "<U+"))
        return 0;
    c = strtoull(text + strlen("<U+"), NULL, 16);
    if (!c || c > LARGEST_CHAR || !al_utf8_is_hidden((uint32_t)c))
        return 0;
    (void)snprintf(again, sizeof(again), "<U+%04X>", (unsigned)c);
    *ret_char = (uint32_t)c;
    return al_starts_with(text, again) ? strlen(again) : 0;
}

char *al_shown_name_read(const char *shown)
{
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    bool any = false;

    while (*shown) {
        uint32_t c = 0;
        size_t len = read_one(shown, &c);

        if (len)
            al_utf8_add(c, &name);
        else
            al_str_addc(&name, *shown);
        any |= len > 0;
        shown += len ? len : 1;
    }
    return any ? al_str_detach(&name) : NULL;
}

/* Safe text, cut to the length that a user or a model is shown: a line, a list, a diff, an answer.
 */

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

/* Make one line of a text: newlines and tabs become spaces, and a blank line no second one. */
static char *one_line(struct al_str *text)
{
    size_t len = 0;

    for (size_t i = 0; i < text->len; i++) {
        const char c = text->buf[i];

        if (c != '\r' && !(c == '\n' && len && text->buf[len - 1] == ' '))
            text->buf[len++] = c == '\n' || c == '\t' ? ' ' : c;
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

void al_text_add_quoted(const char *word, struct al_str *out)
{
    al_str_addc(out, '\'');
    for (; *word; word++)
        al_str_adds(out, *word == '\'' ? "'\\''" : (char[]){ *word, '\0' });
    al_str_addc(out, '\'');
}

void al_text_add_word(const char *word, struct al_str *out)
{
    al_str_addc(out, ' ');
    if (*word && !strpbrk(word, " \t\n\"'\\$`*?[]{}()<>|&;#~!"))
        al_str_adds(out, word);
    else
        al_text_add_quoted(word, out);
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

enum state {
    GROUND,
    ESCAPE,       /* after ESC */
    INTERMEDIATE, /* after ESC and bytes of 0x20 to 0x2f */
    IN_CSI,       /* in a CSI sequence */
    IN_OSC,       /* in an OSC string, which BEL also ends */
    IN_STRING,    /* in a DCS, SOS, PM or APC string */
};

enum {
    BEL = 0x07,
    CAN = 0x18,
    SUB = 0x1a,
    ESC = 0x1b,
    DEL = 0x7f,
    DCS = 0x90,
    SOS = 0x98,
    CSI = 0x9b,
    OSC = 0x9d,
    PM = 0x9e,
    APC = 0x9f,
};

static bool is_full(const struct al_text *text)
{
    return text->out.len > text->max_bytes;
}

/* Copy a run that needs no care, up to the first character that fills the text. */
static size_t add_run(struct al_text *text, const char *data, size_t len)
{
    const size_t room = text->max_bytes - text->out.len;
    size_t run = 0;

    while (run < len && run <= room &&
           ((data[run] >= ' ' && data[run] < DEL) || data[run] == '\t' || data[run] == '\n'))
        run++;
    al_str_add(&text->out, data, run);
    return run;
}

static void show(struct al_text *text, uint32_t c)
{
    al_str_addf(&text->out, "<U+%04X>", (unsigned)c);
}

/* Handle a C0 control other than CR and LF, DEL, or a C1 control.  Controls that are shown begin no
 * sequence, so the state does not change. */
static void add_control(struct al_text *text, uint32_t c)
{
    if (text->show_controls && c != '\t') {
        show(text, c);
        return;
    }
    switch (c) {
    case '\t':
        if (text->state == GROUND)
            al_str_addc(&text->out, '\t');
        break;
    case BEL:
        if (text->state == IN_OSC)
            text->state = GROUND;
        break;
    case ESC:
        text->state = ESCAPE;
        break;
    case CSI:
        text->state = IN_CSI;
        break;
    case OSC:
        text->state = IN_OSC;
        break;
    case DCS:
    case SOS:
    case PM:
    case APC:
        text->state = IN_STRING;
        break;
    default:
        if (c == CAN || c == SUB || c > DEL)
            text->state = GROUND;
        break;
    }
}

static void add_visible(struct al_text *text, uint32_t c, const char *bytes, size_t n)
{
    if (al_utf8_is_invisible(c))
        show(text, c);
    else
        al_str_add(&text->out, bytes, n);
}

/* Handle a character that is not a control.  Non-ASCII characters cannot be part of an escape or
 * CSI sequence. */
static void add_character(struct al_text *text, uint32_t c, const char *bytes, size_t n)
{
    switch ((enum state)text->state) {
    case IN_OSC:
    case IN_STRING:
        return;
    case ESCAPE:
    case INTERMEDIATE:
        if (c >= 0x20 && c <= 0x2f) {
            text->state = INTERMEDIATE;
            return;
        }
        if (text->state == ESCAPE && c >= 0x40 && c <= 0x5f) {
            add_control(text, c + 0x40);
            return;
        }
        break;
    case IN_CSI:
        if (c < 0x40)
            return;
        break;
    case GROUND:
        add_visible(text, c, bytes, n);
        return;
    }
    text->state = GROUND;
    if (c > DEL)
        add_visible(text, c, bytes, n);
}

static void add_bad_byte(struct al_text *text, char byte)
{
    if (text->state == IN_OSC || text->state == IN_STRING)
        return;
    text->state = GROUND;
    if (text->show_bytes)
        al_str_addf(&text->out, "<%02X>", (unsigned char)byte);
    else
        al_str_adds(&text->out, AL_UTF8_REPLACEMENT);
}

/* Handle one character and return its length; 0 when more bytes are needed. */
static size_t add_one(struct al_text *text, const char *data, size_t len)
{
    uint32_t c;
    int n = al_utf8_next(data, len, &c);

    if (n < 0) {
        add_bad_byte(text, *data);
        return 1;
    }
    if (n == 0 || (c == '\r' && len == 1))
        return 0;
    if (c == '\r' || c == '\n') {
        n = c == '\r' && data[1] == '\n' ? 2 : 1;
        text->state = GROUND;
        if (n == 2 || c == '\n')
            al_str_add(&text->out, data, (size_t)n);
        else if (text->show_controls)
            show(text, c);
    } else if (c < 0x20 || (c >= DEL && c <= APC)) {
        add_control(text, c);
    } else {
        add_character(text, c, data, (size_t)n);
    }
    return (size_t)n;
}

/* Handle as many of the held bytes as possible. */
static void add_held(struct al_text *text)
{
    while (text->nheld && !is_full(text)) {
        size_t n = add_one(text, (const char *)text->held, text->nheld);

        if (!n)
            return;
        text->nheld -= n;
        memmove(text->held, text->held + n, text->nheld);
    }
}

void al_text_clear(struct al_text *text)
{
    const struct al_text fresh = {
        .out = AL_STR_INIT,
        .max_bytes = text->max_bytes,
        .show_controls = text->show_controls,
        .show_bytes = text->show_bytes,
    };

    al_str_clear(&text->out);
    *text = fresh;
}

bool al_text_add(struct al_text *text, const char *data, size_t len)
{
    while (text->nheld && len && !is_full(text)) {
        text->held[text->nheld++] = (unsigned char)*data++;
        len--;
        add_held(text);
    }
    while (len && !is_full(text)) {
        size_t n = text->state == GROUND ? add_run(text, data, len) : 0;

        if (!n)
            n = add_one(text, data, len);
        if (!n) {
            memcpy(text->held, data, len);
            text->nheld = len;
            break;
        }
        data += n;
        len -= n;
    }
    return !is_full(text);
}

void al_text_end(struct al_text *text)
{
    for (size_t i = 0; i < text->nheld && !is_full(text); i++) {
        if (text->held[i] != '\r')
            add_bad_byte(text, (char)text->held[i]);
        else if (text->show_controls)
            show(text, '\r');
    }
    text->nheld = 0;
    text->state = GROUND;
}

static void sanitize(const char *data, size_t len, bool show_controls, struct al_str *out)
{
    struct al_text text = AL_TEXT_INIT(SIZE_MAX);

    text.out = *out;
    text.show_controls = show_controls;
    (void)al_text_add(&text, data, len);
    al_text_end(&text);
    *out = text.out;
}

void al_text_sanitize(const char *data, size_t len, struct al_str *out)
{
    sanitize(data, len, false, out);
}

void al_text_sanitize_shown(const char *data, size_t len, struct al_str *out)
{
    sanitize(data, len, true, out);
}
