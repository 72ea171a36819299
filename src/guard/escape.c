// SPDX-License-Identifier: Apache-2.0
/* JSON in which invisible characters and terminal controls are \u escapes. */
#include "guard/char_class.h"
#include "guard/text.h"
#include "util/json.h"
#include "util/utf8.h"

/* DEL and the C1 controls.  JSON has its own escapes for the others. */
static bool is_high_control(uint32_t c)
{
    return c >= 0x7f && c <= 0x9f;
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
        size_t n = al_char_plain_run(text, len);
        uint32_t c;

        if (n) {
            add(text, n, out);
        } else {
            int one = al_utf8_next(text, len, &c);

            n = one > 0 ? (size_t)one : 1;
            if (one <= 0)
                al_str_adds(out, AL_CHAR_REPLACEMENT);
            else if (al_char_is_invisible(c) || is_high_control(c))
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

void al_text_escape_name(const char *name, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;

    al_utf8_escape(name, strlen(name), &bytes);
    al_text_escape(bytes.buf, bytes.len, out);
}
