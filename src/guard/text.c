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

#include <stdint.h>

#include "guard/char_class.h"
#include "util/utf8.h"

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
    size_t run = al_char_plain_run(data, len), room = text->max_bytes - text->out.len;

    if (run > room) {
        do {
            room++;
        } while (room < run && al_char_continues(data[room]));
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
    if (al_char_is_invisible(c))
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
        al_str_adds(&text->out, AL_CHAR_REPLACEMENT);
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
