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

#include <endian.h>
#include <stdint.h>

#include "util/json.h"
#include "util/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

enum state {
    GROUND,
    ESCAPE,       /* after ESC */
    INTERMEDIATE, /* after ESC and bytes of 0x20 to 0x2f */
    CONTROL,      /* in a CSI sequence */
    COMMAND,      /* in an OSC string, which BEL also ends */
    STRING,       /* in a DCS, SOS, PM or APC string */
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

/* Invisible characters: bidi controls, joiners, selectors, fillers, tags, separators.  Sorted. */
static const struct {
    uint32_t first, last;
} unseen[] = {
    { 0x00ad, 0x00ad },   { 0x034f, 0x034f }, { 0x061c, 0x061c },   { 0x115f, 0x1160 },
    { 0x17b4, 0x17b5 },   { 0x180b, 0x180f }, { 0x200b, 0x200f },   { 0x2028, 0x202e },
    { 0x2060, 0x206f },   { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
    { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
    { 0xe0000, 0xe0fff },
};

static bool is_unseen(uint32_t c)
{
    for (size_t i = 0; i < AL_COUNT(unseen) && c >= unseen[i].first; i++)
        if (c <= unseen[i].last)
            return true;
    return false;
}

/* For the fast path, sixteen bytes a line: the length of the character that this byte begins, or 0
 * if such a character may need care.  0 covers the leading bytes of invisible and C1 characters,
 * and leading bytes whose second byte has narrower bounds. */
static const char easy_length[] = "0000000001100000"
                                  "0000000000000000"
                                  "1111111111111111" /* 2 */
                                  "1111111111111111"
                                  "1111111111111111" /* 4 */
                                  "1111111111111111"
                                  "1111111111111111" /* 6 */
                                  "1111111111111110"
                                  "0000000000000000" /* 8 */
                                  "0000000000000000"
                                  "0000000000000000" /* a */
                                  "0000000000000000"
                                  "0002222222222022" /* c */
                                  "2222222202222222"
                                  "0000333333333030" /* e */
                                  "0000000000000000";

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Sets the high bit of each of eight bytes that is not printable ASCII, tab or newline; all other
 * bits are 0. */
static uint64_t careful_of_eight(const unsigned char *s)
{
    const uint64_t each = 0x0101010101010101;
    uint64_t w, low, control, blank, del;

    memcpy(&w, s, sizeof(w));
    w = le64toh(w);
    low = w & 0x7f * each; /* no sum below carries into the next byte */
    control = ~(low + (0x80 - ' ') * each);
    blank = (low + (0x80 - '\t') * each) & ~(low + (0x80 - '\n' - 1) * each);
    del = low + each;
    return ((control & ~blank) | del | w) & 0x80 * each;
}

/* How many bytes from the beginning can be copied unchanged. */
static size_t easy_run(const unsigned char *s, size_t len)
{
    size_t i = 0;

    while (i < len) {
        uint64_t careful = 0;
        char length;

        while (len - i >= 8 && !(careful = careful_of_eight(s + i)))
            i += 8;
        i += careful ? (size_t)__builtin_ctzll(careful) / 8 : 0;
        /* Constant steps: adding a table value would keep the processor from reading ahead. */
        while (i < len && (length = easy_length[s[i]]) != '1') {
            if (length == '3' && len - i >= 3 && continues(s[i + 1]) && continues(s[i + 2]))
                i += 3;
            else if (length == '2' && len - i >= 2 && continues(s[i + 1]))
                i += 2;
            else
                return i;
        }
        i += i < len;
    }
    return i;
}

static bool is_full(const struct al_text *text)
{
    return text->out.len > text->max_bytes;
}

/* Copy a run that needs no care, up to the first character that fills the text. */
static size_t add_run(struct al_text *text, const char *data, size_t len)
{
    const unsigned char *s = (const unsigned char *)data;
    size_t run = easy_run(s, len), room = text->max_bytes - text->out.len;

    if (run > room) {
        do {
            room++;
        } while (room < run && continues(s[room]));
        run = room;
    }
    al_str_add(&text->out, data, run);
    return run;
}

static void show(struct al_text *text, uint32_t c)
{
    al_str_addf(&text->out, "<U+%04X>", (unsigned)c);
}

/* Handle a C0 control other than CR and LF, DEL, or a C1 control.  If controls are shown, none of
 * them begins a sequence, so the state does not change. */
static void take_control(struct al_text *text, uint32_t c)
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
        if (text->state == COMMAND)
            text->state = GROUND;
        break;
    case ESC:
        text->state = ESCAPE;
        break;
    case CSI:
        text->state = CONTROL;
        break;
    case OSC:
        text->state = COMMAND;
        break;
    case DCS:
    case SOS:
    case PM:
    case APC:
        text->state = STRING;
        break;
    default:
        if (c == CAN || c == SUB || c > DEL)
            text->state = GROUND;
        break;
    }
}

static void take_graphic(struct al_text *text, uint32_t c, const char *bytes, size_t n)
{
    if (is_unseen(c))
        show(text, c);
    else
        al_str_add(&text->out, bytes, n);
}

/* Handle a character that is not a control.  Non-ASCII characters cannot be part of an escape or
 * CSI sequence. */
static void take_character(struct al_text *text, uint32_t c, const char *bytes, size_t n)
{
    switch ((enum state)text->state) {
    case COMMAND:
    case STRING:
        return;
    case ESCAPE:
    case INTERMEDIATE:
        if (c >= 0x20 && c <= 0x2f) {
            text->state = INTERMEDIATE;
            return;
        }
        if (text->state == ESCAPE && c >= 0x40 && c <= 0x5f) {
            take_control(text, c + 0x40);
            return;
        }
        break;
    case CONTROL:
        if (c < 0x40)
            return;
        break;
    case GROUND:
        take_graphic(text, c, bytes, n);
        return;
    }
    text->state = GROUND;
    if (c > DEL)
        take_graphic(text, c, bytes, n);
}

static void take_bad_byte(struct al_text *text)
{
    if (text->state == COMMAND || text->state == STRING)
        return;
    text->state = GROUND;
    al_str_adds(&text->out, REPLACEMENT);
}

/* Handle one character and return its length; 0 when more bytes are needed. */
static size_t take(struct al_text *text, const char *data, size_t len)
{
    uint32_t c;
    int n = al_utf8_next(data, len, &c);

    if (n < 0) {
        take_bad_byte(text);
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
        take_control(text, c);
    } else {
        take_character(text, c, data, (size_t)n);
    }
    return (size_t)n;
}

/* Handle as many of the held bytes as possible. */
static void take_held(struct al_text *text)
{
    while (text->nheld && !is_full(text)) {
        size_t n = take(text, (const char *)text->held, text->nheld);

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
    };

    al_str_clear(&text->out);
    *text = fresh;
}

bool al_text_add(struct al_text *text, const char *data, size_t len)
{
    while (text->nheld && len && !is_full(text)) {
        text->held[text->nheld++] = (unsigned char)*data++;
        len--;
        take_held(text);
    }
    while (len && !is_full(text)) {
        size_t n = text->state == GROUND ? add_run(text, data, len) : 0;

        if (!n)
            n = take(text, data, len);
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
            take_bad_byte(text);
        else if (text->show_controls)
            show(text, '\r');
    }
    text->nheld = 0;
    text->state = GROUND;
}

void al_text_clean(const char *data, size_t len, struct al_str *out)
{
    struct al_text text = AL_TEXT_INIT(SIZE_MAX);

    text.out = *out;
    (void)al_text_add(&text, data, len);
    al_text_end(&text);
    *out = text.out;
}

void al_text_show(const char *data, size_t len, struct al_str *out)
{
    struct al_text text = AL_TEXT_INIT(SIZE_MAX);

    text.out = *out;
    text.show_controls = true;
    (void)al_text_add(&text, data, len);
    al_text_end(&text);
    *out = text.out;
}

static void add_escape(struct al_str *out, uint32_t c)
{
    if (c > 0xffff) {
        al_str_addf(out, "\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)));
        c = 0xdc00 + ((c - 0x10000) & 0x3ff);
    }
    al_str_addf(out, "\\u%04x", (unsigned)c);
}

/* Pass runs of visible text to `add`; escape invisible characters; replace bytes that are not
 * UTF-8. */
static void escape_hidden(const char *text, size_t len,
                          void (*add)(const char *text, size_t len, struct al_str *out),
                          struct al_str *out)
{
    while (len) {
        size_t n = easy_run((const unsigned char *)text, len);
        uint32_t c;

        if (n) {
            add(text, n, out);
        } else {
            int one = al_utf8_next(text, len, &c);

            n = one > 0 ? (size_t)one : 1;
            if (one <= 0)
                al_str_adds(out, REPLACEMENT);
            else if (is_unseen(c) || (c >= DEL && c <= APC))
                add_escape(out, c);
            else
                add(text, n, out);
        }
        text += n;
        len -= n;
    }
}

static void add_as_is(const char *text, size_t len, struct al_str *out)
{
    al_str_add(out, text, len);
}

void al_text_escape_json(const char *json, size_t len, struct al_str *out)
{
    al_str_reserve(out, len);
    escape_hidden(json, len, add_as_is, out);
}

void al_text_escape(const char *text, size_t len, struct al_str *out)
{
    escape_hidden(text, len, al_json_escape, out);
}
